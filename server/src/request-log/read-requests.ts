import { AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { LoggedRequest } from './logged-request.ts';
import { findRequestById } from './queries.ts';

export { listRequests, listRequestsOfRecord } from './queries.ts';
export type { ListedRequest } from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's. */
export async function getRequest(db: Queryable, merchantId: string, id: string): Promise<LoggedRequest> {
  const found = isUuid(id) ? await findRequestById(db, merchantId, id) : undefined;
  if (found) return found;
  throw new AppError(
    'not_found',
    'There is no such request in this environment. Reads and refusals are kept for 30 days.',
  );
}
