import type { JsonRecord } from '../events/kinds.ts';
import { enqueue } from '../events/outbox.ts';
import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Part } from '../ledger/posting.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { newReference } from '../networks/reference.ts';
import { netDebt } from '../ledger/debt.ts';
import { bookHeld } from './booking.ts';
import type { TransferContext } from './context.ts';
import { checkLargest, countForDay } from './limits.ts';
import { insertTransfer } from './queries.ts';
import { appendTransferEvent } from './transfer-change.ts';
import { transferKinds } from './transfer-kinds.ts';
import { sendWork } from './transfer-work.ts';
import type { Transfer, TransferKind } from './transfer.ts';

/** What an order to pay out says, checked by whoever makes it. */
export interface TransferRequest {
  kind: TransferKind;
  amountMinor: bigint;
  feeMinor: bigint;
  network: string;
  accountNumber: string;
  accountCanonical: string;
  beneficiaryName: string | null;
  narration: string | null;
  callbackUrl: string | null;
  metadata: JsonRecord;
  subAccountId?: string;
  /** Where the network that collected it gives it back: its own transaction. */
  originalReference?: string;
}

/** A new order, which `acceptTransfer` makes true. */
export function newTransfer(context: TransferContext, merchant: Merchant, request: TransferRequest): Transfer {
  const now = context.clock.now();
  return {
    merchantId: merchant.id,
    id: context.newId(),
    kind: request.kind,
    status: 'pending',
    amountMinor: request.amountMinor,
    feeMinor: request.feeMinor,
    currency: merchant.currency,
    network: request.network,
    accountNumber: request.accountNumber,
    accountCanonical: request.accountCanonical,
    beneficiaryName: request.beneficiaryName,
    narration: request.narration,
    callbackUrl: request.callbackUrl,
    metadata: request.metadata,
    subAccountId: request.subAccountId ?? null,
    route: request.originalReference === undefined ? 'payout' : 'network',
    originalReference: request.originalReference ?? null,
    reference: newReference(context.random, merchant),
    networkReference: null,
    networkTransactionId: null,
    amountReversedMinor: 0n,
    networkHandles: null,
    progress: 'created',
    sends: 0n,
    sentAt: null,
    waitingFor: null,
    failureCode: null,
    failureReason: null,
    review: null,
    eventSequence: transferKinds[request.kind].events.accepted === null ? 0n : 1n,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
  };
}

/**
 * Stores an order, holds its money and gives it to a worker, in the caller's transaction. What orders of one merchant
 * wait for is locked last: the balances, then the day's total.
 *
 * Throws AppError `limit_exceeded`, `merchant_owes` and `insufficient_balance`.
 */
export async function acceptTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  transfer: Transfer,
  from: readonly Part[],
): Promise<void> {
  const { events, isLimited, isRefusedInDebt } = transferKinds[transfer.kind];
  if (isLimited) checkLargest(merchant, transfer.amountMinor);
  tx.send(insertTransfer(transfer));
  if (events.accepted !== null) appendTransferEvent(tx, context, merchant, transfer, events.accepted);
  enqueue(tx, context, sendWork(merchant, transfer));
  if (isRefusedInDebt) await refuseInDebt(tx, context, transfer);
  await bookHeld(tx, context, transfer, from);
  if (isLimited) {
    await countForDay(tx, merchant, { amountMinor: transfer.amountMinor, at: transfer.createdAt });
  }
}

/**
 * Whoever owes repays first. The refusal undoes the netting with everything else, and the chore does it again: it holds
 * nothing but what the merchant could not spend anyway.
 */
async function refuseInDebt(
  tx: Transaction,
  { clock, newId }: TransferContext,
  { merchantId, currency }: Transfer,
): Promise<void> {
  const { owedMinor } = await netDebt(tx, { newId }, { merchantId, currency, at: clock.now() });
  if (owedMinor === 0n) return;
  const message = `You owe ${formatAmount(owedMinor)}, because money was taken back that had been paid out. Collect more first: new payments repay it.`;
  throw new AppError('merchant_owes', message);
}
