import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { enqueue } from '../events/outbox.ts';
import type { Case, CaseKind } from '../cases/case.ts';
import { isReversalCase } from '../cases/open-reversal-case.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { PayoutTransaction } from '../networks/contract.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import { nextRecheckAt } from '../networks/recheck.ts';
import { bookCompleted, bookLateSuccess, bookMismatch, bookPaidTwice, type Payout } from './booking.ts';
import { readPaidMinor } from './book-reversal.ts';
import type { TransferContext } from './context.ts';
import { connectorOf } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { recheckWork, type Transfer, type LockedTransfer } from './transfer.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';

/**
 * The network reports that it paid. What left its account is booked once, whatever had been decided meanwhile: it completes
 * a pending transfer of the same amount; everything else opens a case.
 */
export async function applySuccess(
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<void> {
  // The same success is reported by response, look-up and callback.
  const { networkTransactionId, networkReference } = transfer;
  if (networkTransactionId === providerTransaction.transactionId && networkReference !== null) return;
  const payout = await claimPayout(context, transfer, providerTransaction);
  await withLockedTransfer(context, transfer, (tx, locked) => settleSuccess(tx, context, locked, payout));
}

/**
 * A line of the network's statement proves that it paid. Where its ids are not those of the API, and the API has reported the payout
 * since the line was compared, it is the same payout.
 */
export async function applyStatementLine(
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<void> {
  const payout = { ...(await claimPayout(context, transfer, providerTransaction)), isOfStatement: true };
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const { transfer: current } = locked;
    const isSettled = current.networkTransactionId !== null && statementHasOwnIds(context, current, payout);
    if (!isSettled) await settleSuccess(tx, context, locked, payout);
  });
}

/** Money that left, and whether its provider transaction is this transfer's. */
export interface ClaimedPayout extends Payout {
  claimed: boolean;
  /** Whether a line of the statement, or a person who has read one, names it: that has the API's reference nowhere. */
  isOfStatement?: boolean;
}

/** A statement of its own before the transaction that books: it spans merchants, and can be repeated. */
export async function claimPayout(
  context: TransferContext,
  transfer: Transfer,
  providerTransaction: PayoutTransaction,
): Promise<ClaimedPayout> {
  const { railAccount } = (await connectorOf(context, transfer)).capabilities;
  return claimFor(context.db, context, transfer, { railAccount, providerTransaction });
}

/**
 * Claims a payout for the transfer. What a person has typed is claimed in the transaction that books it, so that it stays free where
 * that is refused.
 */
export async function claimFor(
  db: Queryable,
  { clock }: Pick<TransferContext, 'clock'>,
  { merchantId, id: subjectId }: Transfer,
  payout: Payout,
): Promise<ClaimedPayout> {
  const { transactionId } = payout.providerTransaction;
  const claim = { railAccount: payout.railAccount, transactionId, kind: 'payout', merchantId, subjectId } as const;
  return { ...payout, claimed: await claimProviderTransaction(db, clock, claim) };
}

/** Books what left unless it has been booked, and returns the transfer as it is afterwards. */
export async function settleSuccess(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: ClaimedPayout,
): Promise<Transfer> {
  const { transfer } = locked;
  const { providerTransaction } = payout;
  if (!payout.claimed) return reviewReusedTransaction(tx, context, locked, providerTransaction);
  if (transfer.networkTransactionId === providerTransaction.transactionId) {
    // A person or a line had named the id that the API has for it too; only the API has the reference.
    const lacksReference = transfer.networkReference === null && payout.isOfStatement !== true;
    return lacksReference ? changeTransfer(tx, context, locked, networkIds(payout)) : transfer;
  }
  if (await isNamedByStatement(tx, context, locked, payout)) {
    return changeTransfer(tx, context, locked, networkIds(payout));
  }
  if (providerTransaction.currency !== transfer.currency) {
    return reviewCurrency(tx, context, locked, providerTransaction);
  }
  // A second provider transaction under our one reference.
  if (transfer.networkTransactionId !== null) return bookSecondPayout(tx, context, locked, payout);
  if (transfer.status !== 'pending') return bookAfterEnd(tx, context, locked, payout);
  const isWhole = providerTransaction.amountMinor === transfer.amountMinor;
  return isWhole ? complete(tx, context, locked, payout) : suspend(tx, context, locked, payout);
}

/** Whether the API reports what is booked under the id that the statement has for it. */
export async function isNamedByStatement(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: ClaimedPayout,
): Promise<boolean> {
  const { networkTransactionId, networkReference, currency } = locked.transfer;
  const isOfStatement = networkTransactionId !== null && networkReference === null;
  if (!isOfStatement || payout.isOfStatement || !statementHasOwnIds(context, locked.transfer, payout)) return false;
  const { providerTransaction } = payout;
  if (providerTransaction.currency !== currency) return false;
  return providerTransaction.amountMinor === (await readPaidMinor(tx, locked.transfer));
}

export function statementHasOwnIds(
  { networks }: Pick<TransferContext, 'networks'>,
  { network, route }: Pick<Transfer, 'network' | 'route'>,
  { railAccount }: Pick<ClaimedPayout, 'railAccount'>,
): boolean {
  const connector = networks.find({ railAccount, network });
  const operations = route === 'network' ? connector?.refunds : connector?.payouts;
  return operations?.capabilities.statementHasOwnIds === true;
}

/** Another currency cannot be booked in ours: nothing is booked until a person has decided. */
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
  payout: ClaimedPayout,
): Promise<Transfer> {
  await bookCompleted(tx, context, locked.transfer, payout);
  const completedAt = context.clock.now();
  enqueueRecheck(tx, context, locked, completedAt);
  const change = { status: 'completed', progress: 'final', waitingFor: null, review: null, completedAt } as const;
  return changeTransfer(tx, context, locked, {
    ...change,
    failureCode: null,
    failureReason: null,
    ...networkIds(payout),
  });
}

/** Where no callback would report a reversal, the transfer is looked up again some time after its success, also while it is reviewed. */
function enqueueRecheck(
  tx: Transaction,
  context: TransferContext,
  { merchant, transfer }: LockedTransfer,
  paidAt: Date,
): void {
  const { railAccount, network, route } = transfer;
  const connector = railAccount === null ? undefined : context.networks.find({ railAccount, network });
  const operations = route === 'network' ? connector?.refunds : connector?.payouts;
  const dueAt = nextRecheckAt(operations?.capabilities.recheckAfterMs ?? [], paidAt, paidAt);
  if (dueAt !== null) enqueue(tx, context, { ...recheckWork(merchant, transfer), dueAt });
}

async function suspend(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: ClaimedPayout,
): Promise<Transfer> {
  const { transfer } = locked;
  await bookMismatch(tx, context, transfer, payout);
  await openTransferCase(tx, context, transfer, payout.providerTransaction, {
    kind: 'amount_mismatch',
    summary: `${transfer.network} paid ${moneyText(payout.providerTransaction)} instead of ${moneyText(transfer)}.`,
  });
  noteTransfer(tx, context, transfer, 'review', 'The network paid another amount. An operator reviews it.');
  enqueueRecheck(tx, context, locked, context.clock.now());
  const review = { progress: 'final', review: 'amount_mismatch' } as const;
  return changeTransfer(tx, context, locked, { ...review, ...networkIds(payout) });
}

async function bookAfterEnd(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  payout: ClaimedPayout,
): Promise<Transfer> {
  const { transfer } = locked;
  const owedMinor = await bookLateSuccess(tx, context, locked, payout);
  const late = `${transfer.network} paid ${moneyText(payout.providerTransaction)} for a transfer that is ${transfer.status}.`;
  const source =
    transfer.kind === 'sub_account_payout'
      ? "the sub-account's balance, then the merchant's"
      : "the merchant's balance";
  const short = ` The merchant's balance was short by ${moneyText({ currency: transfer.currency, amountMinor: owedMinor })}.`;
  await openTransferCase(tx, context, transfer, payout.providerTransaction, {
    kind: 'late_success',
    summary: `${late} It was taken from ${source}.${owedMinor > 0n ? short : ''}`,
  });
  noteTransfer(tx, context, transfer, 'late_success', 'The network paid after the transfer had ended.');
  enqueueRecheck(tx, context, locked, context.clock.now());
  return changeTransfer(tx, context, locked, { review: 'late_success', ...networkIds(payout) });
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
    summary: `${transfer.network} paid ${moneyText(payout.providerTransaction)} a second time for one transfer. Ask the network to return it.`,
  });
  return transfer;
}

/** Whether it was booked before, or the network had already reported a reversal of all of it: then nothing is missing. */
function accountsFor(found: Case, { transactionId, amountMinor, currency }: PayoutTransaction): boolean {
  if (found.transactionId !== transactionId) return false;
  const isWhole = found.amountMinor === amountMinor && found.currency === currency;
  return found.kind === 'second_success' || (isReversalCase(found) && isWhole);
}

/** A transaction that settled something else proves nothing about this transfer, which stays as it is. */
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
  // A review of money that has moved stays: its own case depends on it.
  const isReviewed = transfer.review === 'amount_mismatch' || transfer.review === 'late_success';
  return isNew && !isReviewed ? changeTransfer(tx, context, locked, { review: 'receipt_reused' }) : transfer;
}

/** Returns false where the same case exists already. */
export function openTransferCase(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  transfer: Transfer,
  { transactionId, amountMinor, currency }: Pick<PayoutTransaction, 'transactionId' | 'amountMinor' | 'currency'>,
  { kind, summary }: { kind: CaseKind; summary: string },
): Promise<boolean> {
  const { merchantId, id: subjectId } = transfer;
  const about = { merchantId, subjectType: 'transfer', subjectId, reference: transactionId } as const;
  return openCase(tx, context, { ...about, kind, amountMinor, currency, summary });
}

function networkIds({
  isOfStatement = false,
  providerTransaction: { networkReference, transactionId },
}: ClaimedPayout): Pick<Transfer, 'networkReference' | 'networkTransactionId'> {
  return { networkReference: isOfStatement ? null : networkReference, networkTransactionId: transactionId };
}
