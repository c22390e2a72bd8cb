import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import { isUuid } from '../kit/ids.ts';
import type { Queryable } from '../kit/db.ts';
import { mapRows, type List, type ListReader, type ListTotals } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import { receivedMinor, type Charge } from './charge.ts';
import { totalMinor, type Intent } from './intent.ts';
import {
  findChargeById,
  findChargeByReference,
  findChargeByTransactionReference,
  findRepresentativeCharge,
  listCharges,
  listRepresentativeCharges,
} from './queries/charges.ts';
import {
  findIntentById,
  findIntentBySecret,
  listIntentRows,
  listIntentsByIds,
  listIntents,
  sumIntents,
} from './queries/intents.ts';
import { listPaidByCustomers, type PaidByCustomer } from './queries/customers.ts';
import type { ChargeFilter, IntentFilter } from './queries/list-filters.ts';

export type { PaidByCustomer } from './queries/customers.ts';
export type { IntentFilter } from './queries/list-filters.ts';

interface ListContext {
  db: Queryable;
  lists: ListReader;
}

export interface FoundPayment {
  intent: Intent;
  /** The attempt that paid, else the current one; undefined before the first one. */
  charge: Charge | undefined;
}

/** What the payer paid, which is not the requested amount where an operator has accepted another; until then, what they pay. */
export function payerMinor({ intent, charge }: FoundPayment): bigint {
  return intent.status === 'successful' && charge ? receivedMinor(charge) : totalMinor(intent);
}

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findPayment(db: Queryable, merchantId: string, id: string): Promise<FoundPayment> {
  const intent = await findIntentById(db, merchantId, id);
  if (!intent) throw new AppError('not_found', 'There is no payment intent with this id in this environment.');
  return { intent, charge: await findRepresentativeCharge(db, merchantId, id) };
}

export async function findPaymentBySecret(db: Queryable, merchantId: string, secret: string): Promise<FoundPayment> {
  const intent = await findIntentBySecret(db, merchantId, secret);
  if (!intent) throw new AppError('not_found', 'There is no payment intent with this secret in this environment.');
  return { intent, charge: await findRepresentativeCharge(db, merchantId, intent.id) };
}

export { findPageViews } from './queries/page-views.ts';

/** Every attempt of a payment, the first one first. */
export { listChargesOfIntent as listAttempts } from './queries/charges.ts';

/** What customers have paid, by their ids; those who never paid have no entry. */
export async function sumPaidByCustomers(
  db: Queryable,
  merchantId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, PaidByCustomer>> {
  if (customerIds.length === 0) return new Map();
  const rows = await listPaidByCustomers(db, merchantId, customerIds);
  return new Map(rows.map((row) => [row.customerId, row]));
}

/** A charge by its id or one of its two references; ours are in capitals, however they were typed. */
export async function findChargeByName(db: Queryable, merchantId: string, name: string): Promise<Charge | undefined> {
  if (isUuid(name)) return findChargeById(db, merchantId, name);
  const byReference = await findChargeByReference(db, merchantId, name);
  return byReference ?? findChargeByTransactionReference(db, merchantId, name.toUpperCase());
}

/**
 * A charge with its intent, by the charge's id, or by the intent's: then the charge that paid it, else its current one.
 * Undefined for an unknown id. Throws AppError `no_charge_yet`.
 */
export async function findTransaction(
  db: Queryable,
  merchantId: string,
  id: string,
): Promise<{ intent: Intent; charge: Charge } | undefined> {
  const charge = await findChargeById(db, merchantId, id);
  const intent = await findIntentById(db, merchantId, charge?.intentId ?? id);
  if (!intent) return undefined;
  const representative = charge ?? (await findRepresentativeCharge(db, merchantId, id));
  if (!representative) {
    const message = 'Nobody has tried to pay this payment intent yet, so it has no transaction.';
    throw new AppError('no_charge_yet', message);
  }
  return { intent, charge: representative };
}

/**
 * Payments with the attempt that paid each, else its current one, and with the sum of what was paid; newest first. What could
 * be the code of a receipt and is none of this week is looked for as a text. Throws AppError as `listTransactions`.
 */
export async function listPayments(
  context: ListContext,
  merchantId: string,
  page: PageRequest,
  filter: IntentFilter,
): Promise<List<FoundPayment>> {
  const list = await listIntents(context.lists, merchantId, page, filter, { withSum: true });
  const asText = list.total === 0 ? searchedAsText(filter) : null;
  if (asText) return listPayments(context, merchantId, page, asText);
  return { ...list, rows: await withCharges(context, merchantId, list.rows) };
}

/** A page of the same list without its total, for reading it to its end; it looks for a text as that does. Throws AppError as `listTransactions`. */
export async function listPaymentRows(
  context: ListContext,
  merchantId: string,
  page: PageRequest,
  filter: IntentFilter,
): Promise<FoundPayment[]> {
  const rows = await listIntentRows(context.lists, merchantId, page, filter);
  const asText = rows.length === 0 ? searchedAsText(filter) : null;
  // A page after the last one is empty too: what was found as a receipt is not looked for again as a text.
  const isFound = asText && (await listIntentRows(context.lists, merchantId, firstRow, filter)).length > 0;
  return asText && !isFound
    ? listPaymentRows(context, merchantId, page, asText)
    : withCharges(context, merchantId, rows);
}

const firstRow: PageRequest = { limit: 1, offset: 0, before: null };

/** The same filter, with what could have been the code of a receipt as a text; null for every other filter. */
function searchedAsText(filter: IntentFilter): IntentFilter | null {
  const { search } = filter;
  if (search?.kind !== 'receipt') return null;
  return { ...filter, search: { kind: 'text', text: search.text, amountMinor: null } };
}

/**
 * How many payments the same list has, up to `rowsMax`, and what the paid ones among them add up to: what their payers paid, in
 * bututs. Throws AppError as `listTransactions`.
 */
export async function sumPayments(
  lists: ListReader,
  merchantId: string,
  filter: IntentFilter,
  rowsMax: number,
): Promise<ListTotals> {
  const totals = await sumIntents(lists, merchantId, filter, rowsMax);
  const asText = totals.total === 0 ? searchedAsText(filter) : null;
  return asText ? sumIntents(lists, merchantId, asText, rowsMax) : totals;
}

async function withCharges(
  { db }: Pick<ListContext, 'db'>,
  merchantId: string,
  intents: readonly Intent[],
): Promise<FoundPayment[]> {
  const ids = intents.map(({ id }) => id);
  const charges = ids.length === 0 ? [] : await listRepresentativeCharges(db, merchantId, ids);
  const byIntent = new Map(charges.map((charge) => [charge.intentId, charge]));
  return intents.map((intent) => ({ intent, charge: byIntent.get(intent.id) }));
}

/** Newest first. Throws AppError `rate_limited` when too many searches are running. */
export async function listTransactions(
  context: ListContext,
  merchantId: string,
  page: PageRequest,
  filter: ChargeFilter,
): Promise<List<{ charge: Charge; intent: Intent }>> {
  const list = await listCharges(context.lists, merchantId, page, filter);
  const intentIds = list.rows.map((charge) => charge.intentId);
  const intents = new Map<string, Intent>();
  for (const intent of await listIntentsByIds(context.db, merchantId, intentIds)) intents.set(intent.id, intent);
  return mapRows(list, (charge) => {
    const intent = intents.get(charge.intentId);
    assert(intent, 'a charge is of an intent');
    return { charge, intent };
  });
}
