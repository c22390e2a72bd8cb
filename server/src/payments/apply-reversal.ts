import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import type { Case } from '../cases/case.ts';
import { isReversalCase, openReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { ProviderTransaction, ReversalIdentity } from '../networks/contract.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { claimCollection, settleSuccess } from './apply-success.ts';
import type { Collection } from './apply-success.ts';
import { bookReversed } from './booking.ts';
import type { ReversedMoney } from './booking.ts';
import { remainingMinor, receivedMinor } from './charge.ts';
import type { Charge } from './charge.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isSameMoney } from './intent.ts';
import { lockTakeBack } from './plan-clawback.ts';

/** Money that the network took back, and how it names that. */
interface TakenCollection extends Collection {
  /** Null where the network gives none. */
  reversalId: string | null;
}

/**
 * The network took a collection back after it had said that it was paid. The success is booked first where we had not
 * heard of it, so that its own news, when it comes late, finds it settled; in the same transaction, because a booked
 * success is no longer looked up, and this might have been the only news of both.
 */
export async function applyReversal(
  context: PaymentContext,
  charge: Charge,
  { providerTransaction, reversalId }: { providerTransaction: ProviderTransaction } & ReversalIdentity,
): Promise<void> {
  const claimed = await claimCollection(context, charge, providerTransaction);
  const collection: TakenCollection = { ...claimed, isReversed: true, reversalId: reversalId ?? null };
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (await isUnknownSuccess(tx, locked.charge, providerTransaction)) {
      const kind = isExpectedAmount(charge, providerTransaction) ? 'network_reversal' : 'partial_reversal';
      const remark = 'It never told us of that money: nothing was booked.';
      await openCaseOnce(tx, context, charge, collection, { kind, remark });
      return;
    }
    await lockSuccessAndReversal(tx, locked);
    const settlement = await settleSuccess(tx, context, locked, collection);
    if (settlement.at === 'nowhere') return;
    const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
    const moneyCase = cases.find(
      ({ kind, reference }) => isMoneyCase(kind) && reference === providerTransaction.transactionId,
    );
    const payment = settlement.at === 'booked' ? settlement.payment : locked;
    if (settlement.at === 'suspense' && moneyCase?.resolution !== 'accept') {
      await openCaseOnce(tx, context, charge, collection, suspenseRemark(providerTransaction, moneyCase));
      return;
    }
    if (!isPaid(payment.charge) || wasReversedWhole(cases, providerTransaction)) return;
    // What a person accepted is what came with this transaction; else it is what was asked for.
    const reversedMinor = moneyCase?.resolution === 'accept' ? moneyCase.amountMinor : charge.amountPaidMinor;
    const isWhole =
      providerTransaction.amountMinor === reversedMinor && providerTransaction.currency === charge.currency;
    // Another amount than what came is nothing that a rule may book, nor is what follows on a part that was taken.
    const isFirst =
      payment.charge.amountReversedMinor === 0n &&
      !cases.some((found) => isReversalCase(found) && found.transactionId === providerTransaction.transactionId);
    if (isWhole && isFirst) {
      await clawBack(tx, context, payment, { ...collection, reversedMinor, divided: 'as_it_came' });
      return;
    }
    const remark = isWhole ? afterAPart : notWhatCame;
    await openCaseOnce(tx, context, charge, collection, { kind: 'partial_reversal', remark });
  });
}

/** Two bookings may follow: what both of them lock is locked here, in one order. */
async function lockSuccessAndReversal(tx: Transaction, { charge, intent }: LockedPayment): Promise<void> {
  if (charge.paidAt !== null) return;
  const debts = intent.shares.map(({ subAccountId }) => owedAccount(subAccountId));
  await lockTakeBack(tx, charge, intent.shares, debts.length === 0 ? [] : ['due_from_subs', ...debts]);
}

/** A person has to book a `partial_reversal`; what a rule could book, or nobody has to, is a `network_reversal`. */
interface ReversalRemark {
  kind: 'network_reversal' | 'partial_reversal';
  remark: string;
}

const notWhatCame = 'That is not what it had brought: nothing was booked.';
const afterAPart = 'It had taken a part back before: nothing was booked.';

/** Whoever resolves the case of money in `suspense` must know that it is gone, as far as that is so. */
function suspenseRemark(providerTransaction: ProviderTransaction, moneyCase: Case | undefined): ReversalRemark {
  const kind = 'network_reversal';
  if (moneyCase?.status === 'resolved') {
    return { kind, remark: `It had been returned already, by case ${moneyCase.id}: nothing was booked.` };
  }
  const isWhole = moneyCase !== undefined && isSameMoney(providerTransaction, moneyCase);
  if (!isWhole) return { kind: 'partial_reversal', remark: notWhatCame };
  return { kind, remark: 'It stands in suspense: there is nothing left to return.' };
}

function isExpectedAmount(charge: Charge, { amountMinor, currency }: ProviderTransaction): boolean {
  return amountMinor === charge.amountPaidMinor && currency === charge.currency;
}

/** Money that had become the merchant's leaves the balance again. */
async function clawBack(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  collection: TakenCollection & Omit<ReversedMoney, 'railAccount'>,
): Promise<void> {
  const { shortfallMinor } = await reverseFromCharge(tx, context, payment, collection);
  const { currency } = payment.charge;
  const short = `The merchant's balance was short by ${moneyText({ currency, amountMinor: shortfallMinor })}.`;
  const remark = shortfallMinor === 0n ? '' : short;
  await openCaseOnce(tx, context, payment.charge, collection, { kind: 'network_reversal', remark });
}

/**
 * Books what the network took back, and what the charge is after it: `reversed` once nothing is left. Of several
 * transactions that paid it one leaves it smaller; a part that a person books counts as `amount_reversed`, and is told.
 */
export async function reverseFromCharge(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  collection: ReversedMoney,
): Promise<{ shortfallMinor: bigint }> {
  const { charge, intent } = payment;
  const { reversedMinor } = collection;
  const bookedReversal = await bookReversed(tx, context, { charge, shares: intent.shares }, collection);
  if (reversedMinor === remainingMinor(charge)) {
    await changeCharge(tx, context, payment, { status: 'reversed', progress: 'final' }, 'charge.reversed');
  } else if (collection.divided === 'as_it_came') {
    const amountReceivedMinor = receivedMinor(charge) - reversedMinor;
    await changeCharge(tx, context, payment, { amountReceivedMinor }, null);
  } else {
    const amountReversedMinor = charge.amountReversedMinor + reversedMinor;
    await changeCharge(tx, context, payment, { amountReversedMinor }, 'charge.reversed');
  }
  return bookedReversal;
}

/** A refund changes nothing about what the network had collected, and takes back here. */
export function isPaid({ status }: Charge): boolean {
  return status === 'completed' || status === 'refunded';
}

/**
 * A reversal names the money it takes back; on a paid charge it is the money that paid, or what stands in `suspense`. A
 * case that says no more than that it was reversed does not make it money we have. Of an attempt that nobody has told us
 * the success of, only all that was asked for is known to have come: what is told of a part waits for that success.
 */
async function isUnknownSuccess(
  tx: Transaction,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<boolean> {
  const { transactionId } = providerTransaction;
  if (charge.networkTransactionId === transactionId) return false;
  if (charge.networkTransactionId === null) return !isExpectedAmount(charge, providerTransaction);
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return !cases.some(({ reference, kind }) => reference === transactionId && isMoneyCase(kind));
}

/** All of a transaction's money is taken back once, however often and under whatever ids it is reported. */
function wasReversedWhole(cases: readonly Case[], providerTransaction: ProviderTransaction): boolean {
  return cases.some((found) => found.kind === 'network_reversal' && isSameMoney(found, providerTransaction));
}

/** Opens the case once; a repetition is about the same case. */
async function openCaseOnce(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { providerTransaction, networkName, reversalId }: TakenCollection,
  { kind, remark }: ReversalRemark,
): Promise<void> {
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  if (wasReversedWhole(cases, providerTransaction)) return;
  const { transactionId, amountMinor, currency } = providerTransaction;
  const { merchantId, id: subjectId } = charge;
  const bookedReversal = `${networkName} took ${moneyText(providerTransaction)} back after it had been paid.`;
  const summary = `${bookedReversal} ${remark}`.trimEnd();
  const about = { merchantId, subjectType: 'charge', subjectId, kind, summary } as const;
  const reversal = { transactionId, amountMinor, currency, reversalId };
  if (kind === 'partial_reversal') await openReversalCase(tx, context, about, reversal);
  else await openCase(tx, context, { ...about, reference: transactionId, amountMinor, currency });
}
