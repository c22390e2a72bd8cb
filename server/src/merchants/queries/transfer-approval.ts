import type { Queryable, Statement } from '../../kit/db.ts';

/** Bututs above which a payout that a person asks for needs a second one; null: none does. */
export async function findTransferApproval(db: Queryable, businessId: string): Promise<bigint | null> {
  const row = await db.row<{ aboveMinor: bigint | null }>({
    name: 'businesses_find_transfer_approval',
    text: 'SELECT approve_transfers_above AS "aboveMinor" FROM businesses WHERE id = $1',
    values: [businessId],
  });
  return row?.aboveMinor ?? null;
}

export function updateTransferApproval(businessId: string, aboveMinor: bigint | null): Statement {
  return {
    name: 'businesses_update_transfer_approval',
    text: 'UPDATE businesses SET approve_transfers_above = $2 WHERE id = $1',
    values: [businessId, aboveMinor],
  };
}
