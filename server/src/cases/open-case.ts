import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { insertCaseOnce } from './queries.ts';
import type { NewCase } from './case.ts';

/**
 * Opens a case with the change that needs it. Answers false when the same thing has its case already: then whatever
 * belongs to the case (the money in `suspense`) has been done too.
 */
export async function openCase(
  tx: Transaction,
  context: { clock: Clock; newId: () => string },
  newCase: NewCase,
): Promise<boolean> {
  const id = context.newId();
  return (await insertCaseOnce(tx, { ...newCase, id, createdAt: context.clock.now() })) === 1;
}
