import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { getGroupForChange } from './find-group.ts';
import { deleteMembers, markGroupDeleted } from './queries.ts';
import type { SubAccountContext } from './sub-account.ts';

/**
 * The group answers 404 from now on, and its members are free of it; payments that were made with it keep their shares.
 * Throws AppError `not_found`.
 */
export async function deleteGroup(
  tx: Transaction,
  context: Pick<SubAccountContext, 'clock'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const group = await getGroupForChange(tx, caller.merchantId, id);
  tx.send(deleteMembers(group));
  tx.send(markGroupDeleted(group, context.clock.now()));
}
