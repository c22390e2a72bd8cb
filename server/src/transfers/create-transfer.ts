import { enqueue } from '../events/outbox.ts';
import { canonicalAccountNumber } from '../api/field-values.ts';
import { AppError, fieldError } from '../api/app-error.ts';
import { checkCallbackUrl } from '../api/urls.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { netDebt } from '../ledger/debt.ts';
import { hold } from '../ledger/hold.ts';
import type { Part } from '../ledger/posting.ts';
import { transferFee } from '../merchants/fees.ts';
import { refuseSuspended } from '../merchants/business-status.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PayoutConnector } from '../networks/contract.ts';
import { newReference } from '../networks/reference.ts';
import { ofNetwork, pausedRefusal, refuseWithoutNetwork } from '../networks/registry.ts';
import { refuseMoneyElsewhere } from './refuse-money-elsewhere.ts';
import type { TransferContext } from './context.ts';
import { addToTransferDay, countTransferDay, insertTransfer, readTransferDay } from './queries.ts';
import { appendTransferEvent } from './transfer-change.ts';
import { ledgerSource, ownAccount, sendWork, totalMinor, transferKinds, type Transfer } from './transfer.ts';

/** What a merchant requests. */
export interface NewTransfer extends Pick<
  Transfer,
  'amountMinor' | 'network' | 'accountNumber' | 'narration' | 'callbackUrl' | 'metadata'
> {
  /** Null is the merchant's. */
  currency: string | null;
  beneficiaryName: string;
}

/**
 * Accepts a transfer request: holds its money and stores the transfer, its event and the work of sending it in one
 * transaction. No network is called here.
 *
 * Throws AppError `amount_out_of_bounds`, `currency_not_supported`, `network_not_available`, `account_number_invalid`,
 * `url_not_allowed`, `limit_exceeded`, `merchant_owes`, `insufficient_balance`, and `state_conflict` for a suspended business.
 */
export async function createTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  request: NewTransfer,
): Promise<Transfer> {
  refuseSuspended(merchant);
  const { network, railAccount } = choosePayoutNetwork(context, merchant, request).capabilities;
  const accountCanonical = canonicalAccountNumber(request.accountNumber, {
    strict: !merchant.testMode,
    path: 'account_number',
  });
  if (request.callbackUrl !== null) {
    checkCallbackUrl(context.settings.urlPolicy(merchant.testMode), 'callback_url', request.callbackUrl);
  }
  const transfer = newTransfer(context, merchant, {
    ...request,
    kind: 'transfer',
    railAccount,
    feeMinor: transferFee(merchant, network, request.amountMinor),
    accountCanonical,
  });
  const sources = [{ account: ownAccount(transfer), amountMinor: totalMinor(transfer) }];
  await acceptTransfer(tx, context, merchant, transfer, sources);
  return transfer;
}

/** Checks amount, currency and network of a request. Throws AppError naming the field. */
export function choosePayoutNetwork(
  { settings, networks }: Pick<TransferContext, 'settings' | 'networks'>,
  merchant: Merchant,
  { amountMinor, currency, network }: Pick<NewTransfer, 'amountMinor' | 'currency' | 'network'>,
): PayoutConnector {
  if (currency !== null && currency !== merchant.currency) {
    const message = `The only currency is ${merchant.currency}. Send ${merchant.currency} or omit currency.`;
    throw fieldError('currency_not_supported', 'currency', message);
  }
  const { amountMinMinor, amountMaxMinor } = settings;
  if (amountMinor < amountMinMinor || amountMinor > amountMaxMinor) {
    const bounds = `${formatAmount(amountMinMinor)} to ${formatAmount(amountMaxMinor)}`;
    throw fieldError('amount_out_of_bounds', 'amount', `The amount must be from ${bounds}.`);
  }
  refuseWithoutNetwork(networks, merchant, 'network');
  const connectors = networks.payingOut(merchant);
  const connector = ofNetwork(connectors, network);
  if (!connector) {
    const paused = pausedRefusal(networks, merchant, { network, path: 'network' });
    if (paused) throw paused;
    const names = connectors.map(({ capabilities }) => capabilities.network).join(', ');
    const choices = names === '' ? 'No network pays out in this environment.' : `Choose among ${names}.`;
    throw fieldError('network_not_available', 'network', `${network} cannot pay out. ${choices}`);
  }
  checkAmountStep(connector, amountMinor);
  return connector;
}

/** Networks pay out whole steps only. Throws AppError `amount_out_of_bounds`. */
export function checkAmountStep({ capabilities, payouts }: PayoutConnector, amountMinor: bigint): void {
  const { amountStepMinor } = payouts.capabilities;
  if (amountMinor % amountStepMinor === 0n) return;
  const step = formatAmount(amountStepMinor);
  const message = `${capabilities.displayName} pays out multiples of ${step}. Change the amount.`;
  throw fieldError('amount_out_of_bounds', 'amount', message);
}

/** A request to pay out that its caller has checked. */
type TransferRequest = Pick<
  Transfer,
  | 'kind'
  | 'amountMinor'
  | 'feeMinor'
  | 'network'
  | 'railAccount'
  | 'accountNumber'
  | 'accountCanonical'
  | 'beneficiaryName'
  | 'narration'
  | 'callbackUrl'
  | 'metadata'
> &
  Partial<Pick<Transfer, 'subAccountId' | 'originalReference'>>;

/** Builds a transfer that is not stored yet; `acceptTransfer` stores it. */
export function newTransfer(
  { clock, newId, random }: Pick<TransferContext, 'clock' | 'newId' | 'random'>,
  merchant: Merchant,
  request: TransferRequest,
): Transfer {
  const { subAccountId = null, originalReference = null } = request;
  const now = clock.now();
  return {
    ...request,
    merchantId: merchant.id,
    id: newId(),
    status: 'pending',
    currency: merchant.currency,
    subAccountId,
    route: originalReference === null ? 'payout' : 'network',
    originalReference,
    reference: newReference(random, merchant),
    networkReference: null,
    networkTransactionId: null,
    amountReversedMinor: 0n,
    networkHandles: null,
    progress: 'created',
    sends: 0n,
    sentAt: null,
    batchReference: null,
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
 * Stores a transfer, holds its money from `sources` and enqueues the work of sending it, in the caller's transaction. The
 * rows that a merchant's transfers compete for are locked last: the balances, then the day's total.
 *
 * Throws AppError `limit_exceeded`, `merchant_owes` and `insufficient_balance`.
 */
export async function acceptTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  transfer: Transfer,
  sources: readonly Part[],
): Promise<void> {
  const { events, isLimited, isRefusedInDebt } = transferKinds[transfer.kind];
  if (isLimited) checkLargest(merchant, transfer.amountMinor);
  tx.send(insertTransfer(transfer));
  if (events.accepted !== null) appendTransferEvent(tx, context, merchant, transfer, events.accepted);
  enqueue(tx, context, sendWork(merchant, transfer));
  if (isRefusedInDebt) await refuseInDebt(tx, context, transfer);
  await hold(tx, context, { ...ledgerSource(transfer), at: context.clock.now() }, sources);
  await refuseMoneyElsewhere(tx, context, merchant, transfer);
  if (isLimited) await countForDay(tx, merchant, transfer);
}

/** Stores a transfer of route `record`: nothing is held, and nothing will be sent. */
export function storeRecord(tx: Transaction, transfer: Transfer): void {
  tx.send(insertTransfer(transfer));
}

/**
 * What the merchant has repays its debt first. A refusal rolls the repayment back with everything else, and the chore
 * repeats it (`syncDebts`).
 */
async function refuseInDebt(
  tx: Transaction,
  { clock, newId }: TransferContext,
  { merchantId, currency }: Transfer,
): Promise<void> {
  const { owedMinor } = await netDebt(tx, { newId }, { merchantId, currency, at: clock.now() });
  if (owedMinor === 0n) return;
  const message = `You owe ${formatAmount(owedMinor)}, because a network reversed money that had been paid out. Collect more first: new payments repay it.`;
  throw new AppError('merchant_owes', message);
}

/** Throws AppError `limit_exceeded` for more than one transfer may have, whatever the balance is. */
function checkLargest({ transferLimits: { largestMinor } }: Merchant, amountMinor: bigint): void {
  if (largestMinor === null || amountMinor <= largestMinor) return;
  if (largestMinor === 0n) throw limitExceeded(noTransfers);
  throw limitExceeded(
    `Transfers of this merchant are limited to ${formatAmount(largestMinor)} each. Send a smaller amount.`,
  );
}

/**
 * Counts a transfer towards the day's total, and throws AppError `limit_exceeded` where that passes the daily limit. All
 * transfers are counted, limited or not: a limit that is set in the middle of a day knows what came before it, also from
 * processes that have not read it yet. Without a limit nothing waits for the statement.
 */
async function countForDay(
  tx: Transaction,
  { transferLimits: { dailyMinor } }: Merchant,
  transfer: Transfer,
): Promise<void> {
  if (dailyMinor === null) {
    tx.send(addToTransferDay(transfer));
    return;
  }
  if (dailyMinor === 0n) throw limitExceeded(noTransfers);
  // `countTransferDay` does not compare the first transfer of a day.
  if (transfer.amountMinor <= dailyMinor && (await countTransferDay(tx, transfer, dailyMinor))) return;
  const requestedMinor = await readTransferDay(tx, transfer);
  const leftMinor = requestedMinor < dailyMinor ? dailyMinor - requestedMinor : 0n;
  const left = leftMinor > 0n ? `at most ${formatAmount(leftMinor)} are left` : 'nothing is left';
  throw limitExceeded(
    `Transfers of this merchant are limited to ${formatAmount(dailyMinor)} a day; ` +
      `${formatAmount(requestedMinor)} were requested today, so ${left} until midnight UTC.`,
  );
}

// A smaller amount, or another day, would be refused too.
const noTransfers = 'The operator lets no transfers of this merchant out. Ask them for another limit.';

function limitExceeded(message: string): AppError {
  return fieldError('limit_exceeded', 'amount', message);
}
