import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { getLinkForChange } from './find-link.ts';
import { checkAmounts } from './link-fields.ts';
import type { LinkChange } from './link-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import { updateLinkRow } from './queries.ts';
import { checkTerms } from './split.ts';

const terms = ['amountMinor', 'minAmountMinor', 'subAccountId', 'subAccountGroupId'] as const;

/**
 * For later payments only. Who shares and how much is asked for is judged where one of them is sent: a title can be
 * changed while a sub-account is paused. A change of nothing leaves everything as it is.
 *
 * Throws AppError `not_found`, and as `checkTerms` does.
 */
export async function updateLink(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: { id: string; change: LinkChange; prefix: string },
): Promise<PaymentLink> {
  const { change, prefix } = request;
  const link = await getLinkForChange(tx, merchant.id, request.id);
  if (Object.keys(change).length === 0) return link;
  const changed: PaymentLink = { ...link, ...change, updatedAt: context.clock.now() };
  checkAmounts(changed, prefix);
  if (terms.some((name) => change[name] !== undefined)) {
    await checkTerms(tx, context, merchant, changed, prefix);
  }
  tx.send(updateLinkRow(changed));
  return changed;
}
