import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import type { Case } from '../cases/open-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { Receipt } from '../networks/contract.ts';
import { claimCollection, settleSuccess } from './apply-success.ts';
import type { Collection } from './apply-success.ts';
import { bookReversed } from './booking.ts';
import { receivedMinor } from './charge.ts';
import type { Charge } from './charge.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isSameMoney } from './intent.ts';

/**
 * The network took a collection back after it had said that it was paid. The success is booked first where we had not
 * heard of it, so that its own news, when it comes late, finds it settled; in the same transaction, because a booked
 * success is no longer looked up, and this might have been the only news of both.
 */
export async function applyReversal(context: PaymentContext, charge: Charge, receipt: Receipt): Promise<void> {
  const from = { ...(await claimCollection(context, charge, receipt)), isTakenBack: true };
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (await isUnheardOf(tx, locked.charge, receipt)) {
      await openReversalCase(tx, context, charge, from, 'It never told us of that money: nothing was booked.');
      return;
    }
    const standing = await settleSuccess(tx, context, locked, from);
    if (standing.at === 'nowhere') return;
    const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
    const about = cases.filter(({ reference }) => reference === receipt.transactionId);
    const waited = about.find(({ kind }) => isMoneyCase(kind));
    const payment = standing.at === 'booked' ? standing.payment : locked;
    if (standing.at === 'suspense' && waited?.resolution !== 'accept') {
      await openReversalCase(tx, context, charge, from, suspenseRemark(receipt, waited));
      return;
    }
    if (!isPaid(payment.charge) || about.some(({ kind }) => kind === 'network_reversal')) return;
    // What a person accepted is what came with this transaction; else it is what was asked for.
    const takenMinor = waited?.resolution === 'accept' ? waited.amountMinor : charge.amountPaidMinor;
    // Another amount than what came is nothing that a rule may book.
    if (receipt.amountMinor !== takenMinor || receipt.currency !== charge.currency) {
      await openReversalCase(tx, context, charge, from, notWhatCame);
      return;
    }
    await takeBack(tx, context, payment, { ...from, takenMinor });
  });
}

const notWhatCame = 'That is not what it had brought: nothing was booked.';

/** Whoever resolves the case of money in `suspense` must know that it is gone, as far as that is so. */
function suspenseRemark(receipt: Receipt, waited: Case | undefined): string {
  if (waited?.status === 'resolved') return `It had been returned already, by case ${waited.id}: nothing was booked.`;
  const isWhole = waited !== undefined && isSameMoney({ ...receipt, reference: receipt.transactionId }, waited);
  return isWhole ? 'It stands in suspense: there is nothing left to return.' : notWhatCame;
}

/** Money that had become the merchant's leaves the balance again. */
async function takeBack(
  tx: Transaction,
  context: PaymentContext,
  payment: LockedPayment,
  from: Collection & { takenMinor: bigint },
): Promise<void> {
  const { charge } = payment;
  const { railAccount, takenMinor } = from;
  const { shortfallMinor } = await bookReversed(
    tx,
    context,
    { charge, shares: payment.intent.shares },
    { railAccount, takenMinor },
  );
  const amountReceivedMinor = receivedMinor(charge) - takenMinor;
  if (amountReceivedMinor > 0n) await changeCharge(tx, context, payment, { amountReceivedMinor }, null);
  else await changeCharge(tx, context, payment, { status: 'reversed', progress: 'final' }, 'charge.reversed');
  const short = `The merchant's balance was short by ${moneyText({ currency: charge.currency, amountMinor: shortfallMinor })}.`;
  await openReversalCase(tx, context, charge, from, shortfallMinor === 0n ? '' : short);
}

/** A refund changes nothing about what the network had collected, and takes back here. */
function isPaid({ status }: Charge): boolean {
  return status === 'completed' || status === 'refunded';
}

/**
 * A reversal names the money it takes back; on a paid charge it is the money that paid, or what stands in `suspense`. A
 * case that says no more than that it was reversed does not make it money we have.
 */
async function isUnheardOf(tx: Transaction, charge: Charge, { transactionId }: Receipt): Promise<boolean> {
  if (charge.networkTransactionId === null || charge.networkTransactionId === transactionId) return false;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return !cases.some(({ reference, kind }) => reference === transactionId && isMoneyCase(kind));
}

async function openReversalCase(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { receipt, networkName }: Collection,
  remark: string,
): Promise<void> {
  const taken = `${networkName} took ${moneyText(receipt)} back after it had been paid.`;
  await openCase(tx, context, {
    merchantId: charge.merchantId,
    kind: 'network_reversal',
    subjectType: 'charge',
    subjectId: charge.id,
    reference: receipt.transactionId,
    amountMinor: receipt.amountMinor,
    currency: receipt.currency,
    summary: `${taken} ${remark}`.trimEnd(),
  });
}
