import type { Case } from '../cases/case.ts';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { isReversalCase, openReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { ProviderTransaction, ReversalIdentity } from '../networks/contract.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { claimCollection, settleSuccess } from './apply-success.ts';
import type { Collection } from './booking.ts';
import { changeCharge, withLockedPayment, type ChargeChange, type LockedPayment } from './change-payment.ts';
import { isPaid, isRequestedAmount, receivedMinor, remainingMinor, type Charge } from './charge.ts';
import { bookReversed, lockClawback, type ReversedMoney } from './clawback.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isSameMoney } from './intent.ts';
import { readRefundedByNetwork } from './queries/charges.ts';

/** A collection that the network reversed. */
export interface ReversedCollection extends Collection {
  /** The network's own id of the reversal; null where it gives none. */
  reversalId: string | null;
  /** Whether it may be what the network has refunded, and not all of it was. */
  mayBeRefund?: boolean;
}

/**
 * The network reports that it reversed a collection. A success that it had not reported before is booked first, in the same
 * transaction: a booked success is no longer looked up, so this may be the only report of both.
 */
export async function applyReversal(
  context: PaymentContext,
  charge: Charge,
  { providerTransaction, reversalId }: { providerTransaction: ProviderTransaction } & ReversalIdentity,
): Promise<void> {
  const claimed = await claimCollection(context, charge, providerTransaction);
  const collection: ReversedCollection = { ...claimed, isReversed: true, reversalId: reversalId ?? null };
  await withLockedPayment(context, charge, async (tx, locked) => {
    const refundedMinor = await readRefundedByReversal(tx, context, locked.charge, collection);
    // The refund's own report books it.
    if (refundedMinor > 0n && refundedMinor >= providerTransaction.amountMinor) return;
    await settleReversal(tx, context, locked, { ...collection, mayBeRefund: refundedMinor > 0n });
  });
}

/**
 * What was refunded by reversing the collection, other than by `known` refunds: its look-up reports that as a reversal, which takes
 * the money back a second time.
 */
export async function readRefundedByReversal(
  tx: Transaction,
  { networks }: PaymentContext,
  { merchantId, id, network, networkTransactionId }: Charge,
  { railAccount, providerTransaction }: ReversedCollection,
  known: ReadonlySet<string> = new Set(),
): Promise<bigint> {
  const isReported = networks.find({ railAccount, network })?.refunds?.capabilities.reversesCollection === true;
  const isRefunded = isReported && providerTransaction.transactionId === networkTransactionId;
  return isRefunded ? readRefundedByNetwork(tx, { merchantId, chargeId: id, known: [...known] }) : 0n;
}

/** Books a reversal under the payment's lock, or opens the case by which a person does. */
export async function settleReversal(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: ReversedCollection,
): Promise<void> {
  const { charge } = locked;
  const { providerTransaction } = collection;
  if (await isUnknownSuccess(tx, locked.charge, providerTransaction)) {
    const kind = isRequestedAmount(charge, providerTransaction) ? 'network_reversal' : 'partial_reversal';
    const remark = 'It never reported that money: nothing was booked.';
    await openCaseOnce(tx, context, charge, collection, { kind, remark });
    return;
  }
  await lockSuccessAndReversal(tx, locked);
  const settlement = await settleSuccess(tx, context, locked, collection);
  if (settlement.state === 'not_booked') return;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  const moneyCase = cases.find(
    ({ kind, reference }) => isMoneyCase(kind) && reference === providerTransaction.transactionId,
  );
  const isAccepted = moneyCase?.resolution === 'accept';
  const payment = settlement.state === 'booked' ? settlement.payment : locked;
  if (settlement.state === 'suspended' && !isAccepted) {
    await openCaseOnce(tx, context, charge, collection, suspenseRemark(providerTransaction, moneyCase));
    return;
  }
  if (!isPaid(payment.charge) || wasReversedWhole(cases, providerTransaction)) return;
  // What this transaction collected: the amount that a person accepted, else the amount requested.
  const collectedMinor = isAccepted ? moneyCase.amountMinor : charge.amountPaidMinor;
  const isWhole =
    providerTransaction.amountMinor === collectedMinor && providerTransaction.currency === charge.currency;
  const isFirst =
    payment.charge.amountReversedMinor === 0n &&
    !cases.some((found) => isReversalCase(found) && found.transactionId === providerTransaction.transactionId);
  const remark = whyForPerson({ isWhole, isFirst, mayBeRefund: collection.mayBeRefund === true });
  if (remark === null) {
    await reverseWhole(tx, context, payment, { ...collection, reversedMinor: collectedMinor, divided: 'as_it_came' });
  } else {
    await openCaseOnce(tx, context, charge, collection, { kind: 'partial_reversal', remark });
  }
}

/** A person decides on any other amount, on what follows a part, and on what may be a refund. Null where a rule books it. */
function whyForPerson(reported: { isWhole: boolean; isFirst: boolean; mayBeRefund: boolean }): string | null {
  if (!reported.isWhole) return otherAmount;
  if (!reported.isFirst) return partBefore;
  return reported.mayBeRefund ? partRefunded : null;
}

/** Two bookings may follow: the accounts of both are locked here, in one order. */
async function lockSuccessAndReversal(tx: Transaction, { charge, intent }: LockedPayment): Promise<void> {
  if (charge.paidAt !== null) return;
  const debts = intent.shares.map(({ subAccountId }) => owedAccount(subAccountId));
  await lockClawback(tx, charge, intent.shares, debts.length === 0 ? [] : ['due_from_subs', ...debts]);
}

/** A person has to book a `partial_reversal`; a `network_reversal` is booked already, or there is nothing to book. */
interface ReversalRemark {
  kind: 'network_reversal' | 'partial_reversal';
  remark: string;
}

const otherAmount = 'That is not the amount it had collected: nothing was booked.';
const partBefore = 'It had reversed a part before: nothing was booked.';
const partRefunded = 'It may be the part that was refunded, which is booked as a refund: nothing else was booked.';

/** What the operator who resolves the case of the money in `suspense` has to know. */
function suspenseRemark(providerTransaction: ProviderTransaction, moneyCase: Case | undefined): ReversalRemark {
  const kind = 'network_reversal';
  if (moneyCase?.status === 'resolved') {
    return { kind, remark: `It had been returned already, by case ${moneyCase.id}: nothing was booked.` };
  }
  const isWhole = moneyCase !== undefined && isSameMoney(providerTransaction, moneyCase);
  if (!isWhole) return { kind: 'partial_reversal', remark: otherAmount };
  return { kind, remark: 'It is in suspense: there is nothing left to return.' };
}

async function reverseWhole(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  collection: ReversedCollection & ReversedMoney,
): Promise<void> {
  const { shortfallMinor: amountMinor } = await reverseFromCharge(tx, context, payment, collection);
  const shortfall = moneyText({ currency: payment.charge.currency, amountMinor });
  const remark = amountMinor === 0n ? '' : `The merchant's balance was short by ${shortfall}.`;
  await openCaseOnce(tx, context, payment.charge, collection, { kind: 'network_reversal', remark });
}

/**
 * Books a reversal and changes the charge: `reversed` once nothing is left. A whole transaction of several that paid it
 * leaves a smaller charge; a part that a person books counts as `amount_reversed`, with an event.
 */
export async function reverseFromCharge(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  money: ReversedMoney,
): Promise<{ shortfallMinor: bigint }> {
  const { charge, intent } = payment;
  const { reversedMinor } = money;
  const booked = await bookReversed(tx, context, { charge, shares: intent.shares }, money);
  const leftMinor = remainingMinor(charge) - reversedMinor;
  if (leftMinor === 0n) {
    await changeCharge(tx, context, payment, { status: 'reversed', progress: 'final' }, 'charge.reversed');
    return booked;
  }
  // As when a refund is the last of it.
  const isRefunded = charge.status === 'completed' && charge.amountRefundedMinor >= leftMinor;
  const change: ChargeChange = isRefunded ? { status: 'refunded' } : {};
  if (money.divided === 'as_it_came') {
    change.amountReceivedMinor = receivedMinor(charge) - reversedMinor;
    await changeCharge(tx, context, payment, change, isRefunded ? 'charge.refunded' : null);
  } else {
    change.amountReversedMinor = charge.amountReversedMinor + reversedMinor;
    await changeCharge(tx, context, payment, change, 'charge.reversed');
  }
  return booked;
}

/**
 * Whether the network reverses money whose success it never reported. On a paid charge that is any transaction but the one
 * that paid and those in `suspense`. On an unpaid one only the whole amount requested is certain to have been collected: the
 * report of a part waits for the success.
 */
async function isUnknownSuccess(
  tx: Transaction,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<boolean> {
  const { transactionId } = providerTransaction;
  if (charge.networkTransactionId === transactionId) return false;
  if (charge.networkTransactionId === null) return !isRequestedAmount(charge, providerTransaction);
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return !cases.some(({ reference, kind }) => reference === transactionId && isMoneyCase(kind));
}

/** A transaction is reversed as a whole once, however often and under whatever ids that is reported. */
function wasReversedWhole(cases: readonly Case[], providerTransaction: ProviderTransaction): boolean {
  return cases.some((found) => found.kind === 'network_reversal' && isSameMoney(found, providerTransaction));
}

async function openCaseOnce(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { providerTransaction, networkName, reversalId }: ReversedCollection,
  { kind, remark }: ReversalRemark,
): Promise<void> {
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  if (wasReversedWhole(cases, providerTransaction)) return;
  const { transactionId, amountMinor, currency } = providerTransaction;
  const { merchantId, id: subjectId } = charge;
  const summary =
    `${networkName} reversed ${moneyText(providerTransaction)} after it had been paid. ${remark}`.trimEnd();
  const about = { merchantId, subjectType: 'charge', subjectId, kind, summary } as const;
  const reversal = { transactionId, amountMinor, currency, reversalId };
  if (kind === 'partial_reversal') await openReversalCase(tx, context, about, reversal);
  else await openCase(tx, context, { ...about, reference: transactionId, amountMinor, currency });
}
