import { AppError } from '../kit/app-error.ts';
import { randomBase62 } from '../kit/base62.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { checkAmounts } from './link-fields.ts';
import type { LinkChange } from './link-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import { findLinkRow, lockLinkForChange, insertLink, updateLinkRow, markLinkDeleted } from './queries.ts';
import { checkTerms } from './split.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getLink(db: Queryable, merchantId: string, id: string): Promise<PaymentLink> {
  const link = isUuid(id) ? await findLinkRow(db, merchantId, id) : undefined;
  if (link?.deletedAt !== null) throw notFound();
  return link;
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getLinkForChange(tx: Transaction, merchantId: string, id: string): Promise<PaymentLink> {
  const link = isUuid(id) ? await lockLinkForChange(tx, merchantId, id) : undefined;
  if (!link) throw notFound();
  return link;
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no payment link with this id in this environment.');
}

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

/**
 * From the commit on the link answers 404 and its page says that it was deleted. Its payments stay, and those that were
 * begun can still be paid. Throws AppError `not_found`.
 */
export async function deleteLink(
  tx: Transaction,
  context: { clock: Clock },
  link: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(link.id) ? await markLinkDeleted(tx, link, context.clock.now()) : 0;
  if (deleted === 0) throw notFound();
}
