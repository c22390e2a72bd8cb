import { randomBase62 } from '../kit/base62.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { checkAmounts } from './link-fields.ts';
import type { LinkChange } from './link-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import { insertLink } from './queries.ts';
import { checkTerms } from './split.ts';

// 128 random bits behind the merchant's short id: a public address that nobody can guess.
const tokenRandomLength = 22;

/** Throws AppError, as `checkTerms` does, where no payment could be made; `prefix` leads the fields' names. */
export async function createLink(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: { fields: LinkChange & Pick<PaymentLink, 'title'>; prefix: string },
): Promise<PaymentLink> {
  const { fields, prefix } = request;
  const now = context.clock.now();
  const link: PaymentLink = {
    description: null,
    amountMinor: null,
    minAmountMinor: null,
    metadata: {},
    redirectUrl: null,
    cancelUrl: null,
    customFields: [],
    subAccountId: null,
    subAccountGroupId: null,
    active: true,
    ...fields,
    merchantId: merchant.id,
    id: context.newId(),
    token: merchant.shortId + randomBase62(context.random, tokenRandomLength),
    currency: merchant.currency,
    createdAt: now,
    updatedAt: now,
    rateLimit: null,
    deletedAt: null,
  };
  checkAmounts(link, prefix);
  await checkTerms(tx, context, merchant, link, prefix);
  tx.send(insertLink(link));
  return link;
}
