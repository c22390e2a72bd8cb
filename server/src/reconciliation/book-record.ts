import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { findMerchantById } from '../merchants/manage-keys.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import { readRefundedByReversal, settleReversal as reverseCharge } from '../payments/apply-reversal.ts';
import { settleSuccess as settleCharge } from '../payments/apply-success.ts';
import type { Collection } from '../payments/booking.ts';
import { lockPayment } from '../payments/change-payment.ts';
import { findChargeByName } from '../payments/find-payment.ts';
import { settleReversal as reverseTransfer } from '../transfers/apply-reversal.ts';
import { settleSuccess as settleTransfer } from '../transfers/apply-success.ts';
import { lockTransferOf } from '../transfers/transfer-change.ts';
import { transactionOf } from './book-line.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { listSentRefunds } from './queries/books.ts';
import { findRefundsWithLine } from './refund-lines.ts';
import type { StatementLine } from './statement-line.ts';

// What two operators decide is booked in the transaction of their decision, by the functions that book what networks report. The
// network's transaction is claimed in it too: a preview is rolled back, and must leave no claim.

type Subject = Pick<Difference, 'class' | 'railAccount' | 'merchantId' | 'subjectType' | 'subjectId'>;

/** Books a line for its record, as a success that the network reported. */
export async function bookSuccessOf(
  tx: Transaction,
  context: ReconciliationContext,
  subject: Subject,
  line: StatementLine,
): Promise<void> {
  const providerTransaction = transactionOf(line);
  const { payerNumber: _, ...payout } = providerTransaction;
  const claimed = await claim(tx, context, subject, providerTransaction);
  if (!claimed) {
    throw new AppError(
      'state_conflict',
      'This transaction of the network has settled something else: ask the network.',
    );
  }
  const merchant = await merchantOf(tx, subject);
  if (subject.subjectType === 'charge') {
    const locked = await lockPayment(tx, merchant, await chargeOf(tx, subject));
    await settleCharge(tx, context, locked, collectionOf(subject, providerTransaction));
  } else {
    const transfer = await lockTransferOf(tx, { merchantId: subject.merchantId, id: subject.subjectId });
    const { railAccount } = subject;
    if (subject.class !== 'duplicate' && ![null, payout.transactionId].includes(transfer.networkTransactionId)) {
      throw new AppError('state_conflict', 'The network has reported the payout meanwhile: run the day again.');
    }
    const claimedPayout = { railAccount, providerTransaction: payout, claimed, isOfStatement: true };
    await settleTransfer(tx, context, { merchant, transfer }, claimedPayout);
  }
}

/** Books that a record's money went back: all that the difference is about. */
export async function bookReversalOf(
  tx: Transaction,
  context: ReconciliationContext,
  difference: Difference,
): Promise<void> {
  const { currency, oursMinor, theirsMinor, railAccount } = difference;
  const amountMinor = oursMinor > theirsMinor ? oursMinor - theirsMinor : theirsMinor - oursMinor;
  const merchant = await merchantOf(tx, difference);
  if (difference.subjectType === 'charge') {
    const locked = await lockPayment(tx, merchant, await chargeOf(tx, difference));
    const transactionId = requireTransaction(locked.charge.networkTransactionId);
    const money = { transactionId, networkReference: transactionId, amountMinor, currency, networkFeeMinor: 0n };
    const collection = collectionOf(difference, { ...money, payerNumber: null });
    const reversed = { ...collection, isReversed: true, reversalId: null };
    // What is not in the statement cannot be the refund, and a refund that has its own line is not this one.
    const isStated = difference.class === 'reversed';
    const refunds = isStated ? await listSentRefunds(tx, railAccount, [{ ...locked.charge, type: 'charge' }]) : [];
    const stated = await findRefundsWithLine(tx, railAccount, refunds);
    const refundedMinor = isStated ? await readRefundedByReversal(tx, context, locked.charge, reversed, stated) : 0n;
    if (refundedMinor >= amountMinor) {
      const message = 'The network has refunded it by reversing it, which its refund books: acknowledge the case.';
      throw new AppError('state_conflict', message);
    }
    await reverseCharge(tx, context, locked, { ...reversed, mayBeRefund: refundedMinor > 0n });
  } else {
    const transfer = await lockTransferOf(tx, { merchantId: difference.merchantId, id: difference.subjectId });
    const transactionId = requireTransaction(transfer.networkTransactionId);
    const money = { transactionId, networkReference: transactionId, amountMinor, currency, networkFeeMinor: 0n };
    const payout = { railAccount, providerTransaction: money, claimed: true };
    await reverseTransfer(tx, context, { merchant, transfer }, { payout, reversalId: null });
  }
}

function claim(
  tx: Transaction,
  { clock }: ReconciliationContext,
  { railAccount, merchantId, subjectType, subjectId }: Subject,
  { transactionId }: ProviderTransaction,
): Promise<boolean> {
  const kind = subjectType === 'charge' ? 'collection' : 'payout';
  return claimProviderTransaction(tx, clock, { railAccount, transactionId, kind, merchantId, subjectId });
}

function collectionOf({ railAccount }: Subject, providerTransaction: ProviderTransaction): Collection {
  return { railAccount, networkName: `The statement of ${railAccount}`, providerTransaction, claimed: true };
}

async function chargeOf(tx: Transaction, { merchantId, subjectId }: Subject) {
  const charge = await findChargeByName(tx, merchantId, subjectId);
  assert(charge, 'a charge stays');
  return charge;
}

async function merchantOf(tx: Transaction, { merchantId }: Subject) {
  const merchant = await findMerchantById(tx, merchantId);
  assert(merchant, 'a record has its merchant');
  return merchant;
}

function requireTransaction(transactionId: string | null): string {
  if (transactionId !== null) return transactionId;
  throw new AppError('state_conflict', 'No transaction of the network has paid it: acknowledge the case.');
}
