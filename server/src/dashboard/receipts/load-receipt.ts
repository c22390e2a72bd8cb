import { AppError } from '../../api/app-error.ts';
import { isUuid } from '../../kit/ids.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { findReceiptById } from '../../receipts/receipt-store.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import type { Visit } from '../visit.ts';

/** Throws AppError `not_found`, also for another business's. */
export async function loadReceipt(
  { money, merchant }: Visit,
  { params: { id = '' } }: Pick<PageInput, 'params'>,
): Promise<Receipt> {
  const receipt = isUuid(id) ? await findReceiptById(money.db, merchant.id, id) : undefined;
  if (!receipt) throw new AppError('not_found', 'There is no such receipt in this environment.');
  return receipt;
}
