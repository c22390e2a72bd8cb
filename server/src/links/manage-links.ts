import { AppError } from '../api/app-error.ts';
import { getterOf } from '../api/get-record.ts';
import { randomBase62 } from '../kit/base62.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { checkAmounts, type LinkChange } from './link-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import { findLinkRow, insertLink, lockLinkForChange, markLinkDeleted, updateLinkRow } from './queries.ts';
import { checkTerms } from './split.ts';

export { listLinks, listLinksWithRateLimit, updateLinkRateLimit as setLinkRateLimit } from './queries.ts';

const notFound = 'There is no payment link with this id in this environment.';

/** Throws AppError `not_found`, also for a deleted link. */
export const getLink = getterOf(findLink, notFound);
const getLinkForChange = getterOf(lockLinkForChange, notFound);

async function findLink(db: Queryable, merchantId: string, id: string): Promise<PaymentLink | undefined> {
  const link = await findLinkRow(db, merchantId, id);
  return link?.deletedAt === null ? link : undefined;
}

// 128 random bits after the merchant's short id: nobody can guess the URL.
const tokenRandomLength = 22;

/** Throws AppError as `checkTerms` does. Errors name fields with `prefix` before them. */
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
 * Changes a link for later payments. Checks amount and split only if one of them is sent, so that you can change the title
 * while a sub-account is paused. An empty change writes nothing.
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
 * After the commit the API answers 404 for the link, and its page says that it was deleted. Its payments stay, and payments
 * that have started can still be completed. Throws AppError `not_found`.
 */
export async function deleteLink(
  tx: Transaction,
  clock: Clock,
  link: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(link.id) ? await markLinkDeleted(tx, link, clock.now()) : 0;
  if (deleted === 0) throw new AppError('not_found', notFound);
}
