import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { AppError } from './app-error.ts';

/**
 * Finds a merchant's record by an id that somebody sent, whatever it is. Throws AppError `not_found` with this message, also for
 * another merchant's and the other environment's record.
 */
export function getterOf<Found>(
  find: (db: Queryable, merchantId: string, id: string) => Promise<Found | undefined>,
  message: string,
) {
  return async (db: Queryable, merchantId: string, id: string): Promise<Found> => {
    const found = isUuid(id) ? await find(db, merchantId, id) : undefined;
    if (found === undefined) throw new AppError('not_found', message);
    return found;
  };
}
