import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { insertCaseOnce } from './queries.ts';
import type { NewCase } from './case.ts';

/**
 * Opens a case in the transaction of the change that needs it. Returns false when the case exists already: then what belongs
 * to it, such as the money in `suspense`, was booked with it.
 */
export async function openCase(
  tx: Transaction,
  context: { clock: Clock; newId: () => string },
  newCase: NewCase,
): Promise<boolean> {
  const id = context.newId();
  return (await insertCaseOnce(tx, { ...newCase, id, createdAt: context.clock.now() })) === 1;
}
