import { listCasesOfSubject } from '../cases/list-cases.ts';
import { enqueue, networkQueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { numberOrNull, parsePhoneNumber } from '../kit/phone-number.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { reserveAt } from '../merchants/rules.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import { nextRecheckAt } from '../networks/recheck.ts';
import { bookCollected, type Booked, type Collection } from './booking.ts';
import {
  cancelOpenAttempts,
  changeCharge,
  changeIntent,
  expireIfDue,
  withLockedPayment,
  type ChargeChange,
  type LockedPayment,
} from './change-payment.ts';
import { isRequestedAmount, type Charge } from './charge.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { isOpen, statusAt } from './intent.ts';
import { lockPaidByReceipt } from './paid-by-transaction.ts';
import {
  isAccountedFor,
  reportReusedTransaction,
  suspendCollection,
  type SuspenseReview,
} from './suspend-collection.ts';

/**
 * The network reports a success. The money is booked once, whatever was decided before: to the charge if it is the amount
 * requested and the intent is unpaid, else to `suspense` with a case.
 */
export async function applySuccess(
  context: PaymentContext,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<void> {
  // A repeated report: this transaction has settled the charge already.
  if (charge.networkTransactionId === providerTransaction.transactionId) return;
  const collection = await claimCollection(context, charge, providerTransaction);
  await withLockedPayment(context, charge, (tx, locked) => settleSuccess(tx, context, locked, collection));
}

/** Claims the provider transaction for the charge. It spans merchants, so it comes before the transaction that books. */
export async function claimCollection(
  context: PaymentContext,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<Collection> {
  const { railAccount, displayName: networkName } = (await connectorOf(context, charge)).capabilities;
  return claimFor(context.db, context, charge, { railAccount, networkName, providerTransaction });
}

/**
 * Claims a collection for the charge. What a person has typed is claimed in the transaction that books it, so that it stays free where
 * that is refused.
 */
export async function claimFor(
  db: Queryable,
  { clock }: Pick<PaymentContext, 'clock'>,
  { merchantId, id: subjectId }: Charge,
  collection: Omit<Collection, 'claimed'>,
): Promise<Collection> {
  const { railAccount, providerTransaction } = collection;
  const { transactionId } = providerTransaction;
  const claim = { railAccount, transactionId, kind: 'collection', merchantId, subjectId } as const;
  return { ...collection, claimed: await claimProviderTransaction(db, clock, claim) };
}

/** Money booked to the charge, or in `suspense`, or not booked because it is another charge's or was reversed already. */
export type SettledMoney =
  | { state: 'booked'; payment: LockedPayment }
  | { state: 'suspended' }
  | { state: 'not_booked' };

/** Books a collection under the payment's lock, or finds that it is booked already. */
export async function settleSuccess(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<SettledMoney> {
  const { charge } = locked;
  const { claimed, providerTransaction } = collection;
  const isSettled = charge.networkTransactionId === providerTransaction.transactionId;
  const isReused =
    !claimed || (!isSettled && (await lockPaidByReceipt(tx, context, charge, providerTransaction.transactionId)));
  if (isReused) {
    await reportReusedTransaction(tx, context, locked, collection);
    return { state: 'not_booked' };
  }
  if (isSettled) {
    return charge.paidAt === null ? { state: 'suspended' } : { state: 'booked', payment: locked };
  }
  const review = reviewOf(locked, providerTransaction);
  if (review !== null) {
    await suspendCollection(tx, context, locked, collection, review);
    enqueueRecheck(tx, context, locked, { railAccount: collection.railAccount, paidAt: context.clock.now() });
    return { state: 'suspended' };
  }
  if (await wasReversedBefore(tx, charge, providerTransaction)) return { state: 'not_booked' };
  return { state: 'booked', payment: await payCharge(tx, context, locked, collection) };
}

/** Why the money may not be booked to the charge; null where it may. */
function reviewOf({ intent, charge }: LockedPayment, providerTransaction: ProviderTransaction): SuspenseReview | null {
  if (!isRequestedAmount(charge, providerTransaction)) return 'amount_mismatch';
  return intent.status === 'successful' ? 'second_success' : null;
}

/**
 * Whether the network reported the reversal of all of this money before the success. Only a charge that holds other money
 * has to ask: on every other one the reversal has booked the success first.
 */
async function wasReversedBefore(
  tx: Transaction,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<boolean> {
  if (charge.networkTransactionId === null) return false;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return isAccountedFor(cases, providerTransaction);
}

async function payCharge(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<LockedPayment> {
  const { merchant, intent, charge } = locked;
  const { providerTransaction } = collection;
  const paidAt = context.clock.now();
  const terms = charge.receivedDirectly ? unsettledTerms : settlementTerms(context, merchant, paidAt);
  const booked = await bookCollected(
    tx,
    context,
    { charge: { ...charge, ...terms }, shares: intent.shares },
    collection,
  );
  enqueueRecheck(tx, context, locked, { railAccount: collection.railAccount, paidAt });
  return completeCharge(tx, context, locked, {
    paidAt,
    ...terms,
    ...booked,
    networkReference: providerTransaction.networkReference,
    networkTransactionId: providerTransaction.transactionId,
    amountReceivedMinor: null,
    ...payerOf(charge, providerTransaction),
  });
}

/** Where no callback would report a reversal, the charge is looked up again some time after its success, also while it is reviewed. */
function enqueueRecheck(
  tx: Transaction,
  context: PaymentContext,
  { merchant, charge }: LockedPayment,
  { railAccount, paidAt }: { railAccount: string; paidAt: Date },
): void {
  const { network } = charge;
  const operations = context.networks.find({ railAccount, network })?.collections;
  const dueAt = nextRecheckAt(operations?.capabilities.recheckAfterMs ?? [], paidAt, paidAt);
  if (dueAt === null) return;
  const queue = networkQueue({ network, testMode: merchant.testMode }, 'look-ups');
  enqueue(tx, context, { merchantId: merchant.id, queue, kind: 'recheck_charge', subjectId: charge.id, dueAt });
}

/** The payer's number, for a payment without one: the network reports it, and a refund goes there. */
function payerOf(
  { accountCanonical }: Charge,
  { payerNumber }: ProviderTransaction,
): Partial<Pick<Charge, 'accountNumber' | 'accountCanonical'>> {
  if (accountCanonical !== null || payerNumber === null) return {};
  const gambian = numberOrNull(() => parsePhoneNumber(payerNumber, { strict: false }));
  // A foreign wallet, or a form that we do not know, is none.
  return gambian ? { accountNumber: payerNumber, accountCanonical: gambian.canonical } : {};
}

/** When a charge's money can be paid out, all of it or the part in reserve. */
export type SettlementTerms = Pick<Charge, 'settlesAt' | 'settledAt' | 'reservePercentHundredths'>;

/** Of money that is in no balance. */
const unsettledTerms: SettlementTerms = { settlesAt: null, settledAt: null, reservePercentHundredths: 0n };

/** The terms for money received at that time: the service's settlement delay and the merchant's reserve. */
export function settlementTerms(
  { settings }: Pick<PaymentContext, 'settings'>,
  merchant: Merchant,
  receivedAt: Date,
): SettlementTerms {
  const reserve = reserveAt(merchant, receivedAt);
  const delayMs = Math.max(settings.settlementDelayMs, reserve?.forMs ?? 0);
  const isLonger = reserve !== null && reserve.forMs > settings.settlementDelayMs;
  return {
    settlesAt: delayMs === 0 ? null : addMs(receivedAt, delayMs),
    settledAt: null,
    // A reserve that ends no later than the delay has no effect.
    reservePercentHundredths: isLonger ? reserve.percentHundredths : 0n,
  };
}

/**
 * Closes a charge whose money is booked, whether a network or a person decided that it paid: charge and intent say so, and
 * workers get what follows from it. An intent that was paid before stays as it was.
 */
export async function completeCharge(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  payment: ChargeChange & SettlementTerms & Booked & { paidAt: Date },
): Promise<LockedPayment> {
  const { merchant, charge } = locked;
  const intent = await expireIfDue(tx, context, locked);
  const wasPaid = intent.status === 'successful';
  const isLate = !wasPaid && !isOpen(statusAt(intent, context.clock.now()));
  const paidIntent = wasPaid
    ? intent
    : await changeIntent(
        tx,
        context,
        { merchant, intent },
        { status: 'successful', late: intent.late || isLate, review: null },
        null,
      );
  const change: ChargeChange = {
    ...payment,
    status: 'completed',
    progress: 'final',
    late: charge.status !== 'pending' || isLate,
    failureCode: null,
    failureReason: null,
  };
  const completed = await changeCharge(tx, context, { ...locked, intent: paidIntent }, change, 'charge.succeeded');
  const { merchantId, id: subjectId, intentId } = charge;
  enqueueSettlement(tx, context, completed, payment.paidAt);
  if (intent.terminalId !== null) {
    enqueue(tx, context, { merchantId, queue: 'notifications', kind: 'notify_charge', subjectId });
  }
  // No other attempt may collect a second time, whether it is the current one or was abandoned.
  const isOnlyAttempt = intent.attempts === 1n;
  if (!isOnlyAttempt) await cancelOpenAttempts(tx, context, merchant, intentId);
  return { merchant, intent: paidIntent, charge: completed };
}

/** Has a worker settle what was received at that time; what is not in reserve waits for the delay only. */
export function enqueueSettlement(
  tx: Transaction,
  context: PaymentContext,
  { merchantId, id: subjectId, settlesAt, reservePercentHundredths }: Charge,
  receivedAt: Date,
): void {
  if (settlesAt === null) return;
  const { settlementDelayMs } = context.settings;
  const isReserved = reservePercentHundredths > 0n && settlementDelayMs > 0;
  const dueAt = isReserved ? addMs(receivedAt, settlementDelayMs) : settlesAt;
  enqueue(tx, context, { merchantId, queue: 'settlement', kind: 'settle_charge', subjectId, dueAt });
}
