import { statementBy, valueBy } from '../../kit/run-statement.ts';

/** The amount in bututs above which a statement line must confirm a receipt before it pays; null asks for none. */
export const findReceiptConfirmAbove = valueBy<bigint | null, [merchantId: string]>({
  name: 'merchants_find_receipt_confirm_above',
  text: 'SELECT receipt_confirm_above AS value FROM merchants WHERE id = $1',
  none: null,
});

export const updateReceiptConfirmAbove = statementBy<[merchantId: string, limitMinor: bigint | null]>({
  name: 'merchants_update_receipt_confirm_above',
  text: 'UPDATE merchants SET receipt_confirm_above = $2 WHERE id = $1',
});
