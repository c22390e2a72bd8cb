import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import type { Case, CaseKind } from '../cases/case.ts';
import { isReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import { bookCompleted, bookLateSuccess, bookMismatch, bookPaidTwice } from './booking.ts';
import type { Payout } from './booking.ts';
import { connectorOf } from './connector-of.ts';
import type { TransferContext } from './context.ts';
import { noteTransfer } from './notes.ts';
import type { Transfer, LockedTransfer } from './transfer.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';

/**
 * The network says that it paid. What left its account is booked once, whatever had been decided meanwhile: on the
 * transfer when it still waits and the amount is right, else with a case for a person.
 */
export async function applySuccess(
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<void> {
  // The same news again, by answer, look-up and callback: what the transaction settled on this transfer stands.
  if (transfer.networkTransactionId === providerTransaction.transactionId) return;
  const payout = await claimPayout(context, transfer, providerTransaction);
  await withLockedTransfer(context, transfer, (tx, locked) => settleSuccess(tx, context, locked, payout));
}

/** Money that left, and whether its network transaction is this transfer's. */
export interface ClaimedPayout extends Payout {
  claimed: boolean;
}

/** A statement of its own before the transaction that books: it spans merchants, and may be repeated. */
export async function claimPayout(
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<ClaimedPayout> {
  const { railAccount } = (await connectorOf(context, transfer)).capabilities;
  const claimed = await claimProviderTransaction(context.db, context.clock, {
    railAccount,
    transactionId: providerTransaction.transactionId,
    kind: 'payout',
    merchantId: transfer.merchantId,
    subjectId: transfer.id,
  });
  return { railAccount, providerTransaction, claimed };
}

/** Books what left, or finds that it has been, and answers the transfer as it stands afterwards. */
export async function settleSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: ClaimedPayout,
): Promise<Transfer> {
  const { transfer } = locked;
  const { providerTransaction } = payout;
  if (!payout.claimed) return reviewReusedTransaction(tx, context, locked, providerTransaction);
  if (transfer.networkTransactionId === providerTransaction.transactionId) return transfer;
  if (providerTransaction.currency !== transfer.currency)
    return reviewCurrency(tx, context, locked, providerTransaction);
  // A second transaction of the network under our one reference.
  if (transfer.networkTransactionId !== null) return bookSecondPayout(tx, context, locked, payout);
  if (transfer.status !== 'pending') return bookAfterEnd(tx, context, locked, payout);
  const isOrderedAmount = providerTransaction.amountMinor === transfer.amountMinor;
  return isOrderedAmount ? complete(tx, context, locked, payout) : suspend(tx, context, locked, payout);
}

/** Bututs of another currency cannot be booked in ours: nothing moves until a person knows. */
async function reviewCurrency(
  tx: Transaction,
  context: TransferContext,
  { transfer }: LockedTransfer,
  providerTransaction: PayoutTransaction,
): Promise<Transfer> {
  await openTransferCase(tx, context, transfer, providerTransaction, {
    kind: 'contradictory_outcome',
    summary: `${transfer.network} reports ${moneyText(providerTransaction)} for a transfer in ${transfer.currency}. Nothing was booked.`,
  });
  return transfer;
}

async function complete(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: Payout,
): Promise<Transfer> {
  await bookCompleted(tx, context, locked.transfer, payout);
  const completedAt = context.clock.now();
  const change = { status: 'completed', progress: 'final', waitingFor: null, review: null, completedAt } as const;
  return changeTransfer(tx, context, locked, {
    ...change,
    failureCode: null,
    failureReason: null,
    ...networkIds(payout.providerTransaction),
  });
}

async function suspend(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: Payout,
): Promise<Transfer> {
  const { transfer } = locked;
  await bookMismatch(tx, context, transfer, payout);
  const ordered = moneyText(transfer);
  await openTransferCase(tx, context, transfer, payout.providerTransaction, {
    kind: 'amount_mismatch',
    summary: `${transfer.network} paid ${moneyText(payout.providerTransaction)} where ${ordered} was ordered.`,
  });
  noteTransfer(tx, context, transfer, 'review', 'The network paid another amount. A person looks at it.');
  const review = { progress: 'final', review: 'amount_mismatch' } as const;
  return changeTransfer(tx, context, locked, { ...review, ...networkIds(payout.providerTransaction) });
}

async function bookAfterEnd(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: Payout,
): Promise<Transfer> {
  const { transfer } = locked;
  const { shortfallMinor } = await bookLateSuccess(tx, context, locked, payout);
  const late = `${transfer.network} paid ${moneyText(payout.providerTransaction)} for a transfer that is ${transfer.status}.`;
  const from =
    transfer.kind === 'sub_account_payout'
      ? "the sub-account's balance, then the merchant's"
      : "the merchant's balance";
  const short = `The merchant's balance was short by ${moneyText({ currency: transfer.currency, amountMinor: shortfallMinor })}.`;
  await openTransferCase(tx, context, transfer, payout.providerTransaction, {
    kind: 'late_success',
    summary: `${late} It was taken from ${from}. ${shortfallMinor > 0n ? short : ''}`.trimEnd(),
  });
  noteTransfer(tx, context, transfer, 'late_success', 'The network paid after the transfer had ended.');
  return changeTransfer(tx, context, locked, { review: 'late_success', ...networkIds(payout.providerTransaction) });
}

async function bookSecondPayout(
  tx: Transaction,
  context: TransferContext,
  { transfer }: LockedTransfer,
  payout: Payout,
): Promise<Transfer> {
  const cases = await listCasesOfSubject(tx, transfer.merchantId, transfer.id);
  if (cases.some((found) => accountsFor(found, payout.providerTransaction))) return transfer;
  await bookPaidTwice(tx, context, transfer, payout);
  await openTransferCase(tx, context, transfer, payout.providerTransaction, {
    kind: 'second_success',
    summary: `${transfer.network} paid ${moneyText(payout.providerTransaction)} a second time for one transfer. Ask for it back.`,
  });
  return transfer;
}

/** It was booked before, or the network had told that it gave all of it back before it told of it: nothing is gone. */
function accountsFor(found: Case, { transactionId, amountMinor, currency }: PayoutTransaction): boolean {
  if (found.transactionId !== transactionId) return false;
  const isWhole = found.amountMinor === amountMinor && found.currency === currency;
  return found.kind === 'second_success' || (isReversalCase(found) && isWhole);
}

/** Somebody else's transaction says nothing about this transfer, which goes on waiting. */
async function reviewReusedTransaction(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  providerTransaction: PayoutTransaction,
): Promise<Transfer> {
  const { transfer } = locked;
  const isNew = await openTransferCase(tx, context, transfer, providerTransaction, {
    kind: 'receipt_reused',
    summary: `${transfer.network} reports ${moneyText(providerTransaction)} with a transaction that settled something else. Nothing was booked.`,
  });
  // A review of money that has moved stays: its own case is decided by it.
  const isReviewed = transfer.review === 'amount_mismatch' || transfer.review === 'late_success';
  return isNew && !isReviewed ? changeTransfer(tx, context, locked, { review: 'receipt_reused' }) : transfer;
}

export function openTransferCase(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: Pick<PayoutTransaction, 'transactionId' | 'amountMinor' | 'currency'>,
  { kind, summary }: { kind: CaseKind; summary: string },
): Promise<boolean> {
  return openCase(tx, context, {
    merchantId: transfer.merchantId,
    kind,
    subjectType: 'transfer',
    subjectId: transfer.id,
    reference: providerTransaction.transactionId,
    amountMinor: providerTransaction.amountMinor,
    currency: providerTransaction.currency,
    summary,
  });
}

function networkIds(
  providerTransaction: PayoutTransaction,
): Pick<Transfer, 'networkReference' | 'networkTransactionId'> {
  return {
    networkReference: providerTransaction.networkReference,
    networkTransactionId: providerTransaction.transactionId,
  };
}
