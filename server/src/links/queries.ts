import type { Statement } from '../kit/db.ts';
import { rowsBy, runBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { columnFilter, createdFilter, type TimeFilter } from '../api/list-filter.ts';
import { finderOf } from '../api/find-record.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import { searchRequest, type SearchFilter } from '../api/search-request.ts';
import { takeClause, takeValues, type Take } from '../kit/shared-allowance.ts';
import type { PaymentLink } from './payment-link.ts';

const columns = `merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt"`;

export function insertLink(link: PaymentLink): Statement {
  return {
    name: 'payment_links_insert',
    text: `INSERT INTO payment_links (merchant_id, id, title, description, amount, min_amount, metadata, redirect_url,
             cancel_url, custom_fields, sub_account_id, sub_account_group_id, active, token, currency, created_at,
             updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, NULL)`,
    values: [link.merchantId, link.id, ...changeable(link), link.token, link.currency, link.createdAt, link.updatedAt],
  };
}

/** Writes the fields that can change; the caller holds the row's lock. */
export const updateLinkRow = statementBy<[link: PaymentLink]>({
  name: 'payment_links_update',
  text: `UPDATE payment_links
         SET title = $3, description = $4, amount = $5, min_amount = $6, metadata = $7, redirect_url = $8,
             cancel_url = $9, custom_fields = $10, sub_account_id = $11, sub_account_group_id = $12, active = $13,
             updated_at = $14
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (link) => [link.merchantId, link.id, ...changeable(link), link.updatedAt],
});

/** The fields that can change: parameters 3 to 13 of both statements. */
function changeable(link: PaymentLink): unknown[] {
  return [
    link.title,
    link.description,
    link.amountMinor,
    link.minAmountMinor,
    JSON.stringify(link.metadata),
    link.redirectUrl,
    link.cancelUrl,
    link.customFields,
    link.subAccountId,
    link.subAccountGroupId,
    link.active,
  ];
}

/** The row stays for its page and its payments. Returns 0 if there is no such link. */
export const markLinkDeleted = runBy<[link: { merchantId: string; id: string }, deletedAt: Date]>({
  name: 'payment_links_mark_deleted',
  text: `UPDATE payment_links SET deleted_at = $3, updated_at = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (link, deletedAt) => [link.merchantId, link.id, deletedAt],
});

/** Also finds a deleted link. */
export const findLinkRow = finderOf<PaymentLink>({
  name: 'payment_links_find',
  text: `SELECT ${columns} FROM payment_links WHERE merchant_id = $1 AND id = $2`,
});

/** Also finds a deleted link. */
export const findLinkRowByToken = finderOf<PaymentLink>({
  name: 'payment_links_find_by_token',
  text: `SELECT ${columns} FROM payment_links WHERE merchant_id = $1 AND token = $2`,
});

/** Serializes changes of a link. Payments through it do not wait. */
export const lockLinkForChange = finderOf<PaymentLink>({
  name: 'payment_links_lock_for_change',
  text: `SELECT ${columns} FROM payment_links
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

/** An absent field does not filter. */
export interface LinkFilter extends TimeFilter, SearchFilter {
  active?: boolean | undefined;
}

const listed = 'FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL';
const searched = { listed, texts: ['title', 'description', 'token', 'id::text'], id: 'id', amount: 'amount' };

const linkList: ListSource<PaymentLink> = {
  name: 'payment_links',
  select: `SELECT ${columns} ${listed}`,
};

/** Newest first. */
export const listLinks = listOf(linkList, (filter: LinkFilter) =>
  searchRequest(filter, searched, {
    newestOf: createdFilter('payment_links', filter),
    others: columnFilter('active', 'active =', filter.active),
  }),
);

/** The link or counter that a page belongs to. */
export interface PageOwner {
  merchantId: string;
  id: string;
}

/**
 * Takes `costUs` from the allowance of a link or counter, which all processes share. Returns the new arrival time, or
 * undefined if the allowance is used up.
 */
export const takePageAllowance = valueBy<bigint | undefined, [owner: PageOwner, take: Take]>({
  name: 'page_limits_take',
  text: `INSERT INTO page_limits (merchant_id, page_owner_id, arrival_us)
         ${takeClause('page_limits', ['merchant_id', 'page_owner_id'])}`,
  values: (owner, take) => [owner.merchantId, owner.id, ...takeValues(take)],
  none: undefined,
});

export const findPageArrival = valueBy<bigint | undefined, [owner: PageOwner]>({
  name: 'page_limits_find',
  text: 'SELECT arrival_us AS value FROM page_limits WHERE merchant_id = $1 AND page_owner_id = $2',
  values: (owner) => [owner.merchantId, owner.id],
  none: undefined,
});

/**
 * Sets how many new payments a second the link's page accepts: 0 is no limit, null applies the merchant's limit. A deleted link keeps
 * its own.
 */
export const updateLinkRateLimit = runBy<
  [link: Pick<PaymentLink, 'merchantId' | 'id'>, paymentsPerSecond: bigint | null]
>({
  name: 'payment_links_update_rate_limit',
  text: `UPDATE payment_links SET rate_limit = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (link, paymentsPerSecond) => [link.merchantId, link.id, paymentsPerSecond],
});

// Far more than an operator sets one by one.
const rateLimitsShownMax = 500;

/** A merchant's links that have a rate limit of their own, oldest first, at most 500. */
export const listLinksWithRateLimit = rowsBy<PaymentLink, [merchantId: string]>({
  name: 'payment_links_with_rate_limit',
  text: `SELECT ${columns} FROM payment_links
         WHERE merchant_id = $1 AND rate_limit IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT $2`,
  values: (merchantId) => [merchantId, rateLimitsShownMax],
});
