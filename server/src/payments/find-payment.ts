import { AppError } from '../kit/app-error.ts';
import { isUuid } from '../kit/ids.ts';
import type { Queryable } from '../kit/db.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import type { Intent } from './intent.ts';
import type { ChargeFilter, IntentFilter } from './list-filters.ts';
import {
  countCharges,
  findChargeById,
  findChargeByReference,
  findChargeByTransactionReference,
  findTellingCharge,
  listCharges,
} from './queries/charges.ts';
import { countIntents, findIntentById, findIntentBySecret, listIntents, listIntentsByIds } from './queries/intents.ts';

export interface FoundPayment {
  intent: Intent;
  /** The attempt that paid, else the newest, when there is one. */
  charge: Charge | undefined;
}

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findPayment(db: Queryable, merchantId: string, id: string): Promise<FoundPayment> {
  const intent = await findIntentById(db, merchantId, id);
  if (!intent) throw new AppError('not_found', 'There is no payment intent with this id in this environment.');
  return { intent, charge: await findTellingCharge(db, merchantId, id) };
}

export async function findPaymentBySecret(db: Queryable, merchantId: string, secret: string): Promise<FoundPayment> {
  const intent = await findIntentBySecret(db, merchantId, secret);
  if (!intent) throw new AppError('not_found', 'There is no payment intent with this secret in this environment.');
  return { intent, charge: await findTellingCharge(db, merchantId, intent.id) };
}

/** A charge by any name that merchants know it by: its two references, or its id. */
export async function findChargeByName(db: Queryable, merchantId: string, name: string): Promise<Charge | undefined> {
  if (isUuid(name)) return findChargeById(db, merchantId, name);
  const byReference = await findChargeByReference(db, merchantId, name);
  return byReference ?? findChargeByTransactionReference(db, merchantId, name);
}

export async function listPayments(
  context: PaymentContext,
  merchantId: string,
  page: PageRequest,
  filter: IntentFilter,
): Promise<Listed<Intent>> {
  const isWhole = Object.keys(filter).length === 1;
  const count = () => countIntents(context.db, merchantId, filter, totalMax + 1);
  return listed(context, merchantId, filter.term, {
    rows: () => listIntents(context.db, merchantId, filter, { ...page, rowsMax: page.limit + 1 }),
    total: () => (isWhole ? context.longLists.count(`payments:${merchantId}`, count) : count()),
  });
}

/**
 * A charge with its intent, by the charge's id, or by the intent's: then the charge that paid it, else its newest. Undefined
 * where neither has the id. Throws AppError `no_charge_yet`.
 */
export async function findTransaction(
  db: Queryable,
  merchantId: string,
  id: string,
): Promise<{ intent: Intent; charge: Charge } | undefined> {
  const charge = await findChargeById(db, merchantId, id);
  const intent = await findIntentById(db, merchantId, charge?.intentId ?? id);
  if (!intent) return undefined;
  const told = charge ?? (await findTellingCharge(db, merchantId, id));
  if (!told) {
    const message = 'Nobody has tried to pay this payment intent yet, so it has no transaction.';
    throw new AppError('no_charge_yet', message);
  }
  return { intent, charge: told };
}

export async function listTransactions(
  context: PaymentContext,
  merchantId: string,
  page: PageRequest,
  filter: ChargeFilter,
): Promise<Listed<{ id: string; charge: Charge; intent: Intent }>> {
  const isWhole = Object.keys(filter).length === 0;
  const count = () => countCharges(context.db, merchantId, filter, totalMax + 1);
  const { rows: charges, total } = await listed(context, merchantId, filter.term, {
    rows: () => listCharges(context.db, merchantId, filter, { ...page, rowsMax: page.limit + 1 }),
    total: () => (isWhole ? context.longLists.count(`charges:${merchantId}`, count) : count()),
  });
  const intents = new Map<string, Intent>();
  for (const intent of await listIntentsByIds(
    context.db,
    merchantId,
    charges.map((charge) => charge.intentId),
  )) {
    intents.set(intent.id, intent);
  }
  const rows = charges.flatMap((charge) => {
    const intent = intents.get(charge.intentId);
    return intent ? [{ id: charge.id, charge, intent }] : [];
  });
  return { rows, total };
}
