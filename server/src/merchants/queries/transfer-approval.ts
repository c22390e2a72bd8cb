import type { Queryable } from '../../kit/db.ts';
import { statementBy } from '../../kit/run-statement.ts';

/** Bututs above which a payout that a person asks for needs a second one; null: none does. */
export async function findTransferApproval(db: Queryable, businessId: string): Promise<bigint | null> {
  const row = await db.row<{ aboveMinor: bigint | null }>({
    name: 'businesses_find_transfer_approval',
    text: 'SELECT approve_transfers_above AS "aboveMinor" FROM businesses WHERE id = $1',
    values: [businessId],
  });
  return row?.aboveMinor ?? null;
}

export const updateTransferApproval = statementBy<[businessId: string, aboveMinor: bigint | null]>({
  name: 'businesses_update_transfer_approval',
  text: 'UPDATE businesses SET approve_transfers_above = $2 WHERE id = $1',
});
