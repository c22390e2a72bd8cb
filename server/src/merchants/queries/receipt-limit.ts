import type { Queryable } from '../../kit/db.ts';
import { statementBy } from '../../kit/run-statement.ts';

/** The amount in bututs above which a statement line must confirm a receipt before it pays; null asks for none. */
export async function findReceiptConfirmAbove(db: Queryable, merchantId: string): Promise<bigint | null> {
  const row = await db.row<{ limitMinor: bigint | null }>({
    name: 'merchants_find_receipt_confirm_above',
    text: 'SELECT receipt_confirm_above AS "limitMinor" FROM merchants WHERE id = $1',
    values: [merchantId],
  });
  return row?.limitMinor ?? null;
}

export const updateReceiptConfirmAbove = statementBy<[merchantId: string, limitMinor: bigint | null]>({
  name: 'merchants_update_receipt_confirm_above',
  text: 'UPDATE merchants SET receipt_confirm_above = $2 WHERE id = $1',
});
