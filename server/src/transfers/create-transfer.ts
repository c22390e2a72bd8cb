import type { JsonRecord } from '../events/kinds.ts';
import { enqueue } from '../events/outbox.ts';
import { canonicalAccountNumber } from '../kit/account-number.ts';
import { fieldError } from '../kit/app-error.ts';
import { checkCallbackUrl } from '../kit/callback-url.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { transferFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { newReference } from '../networks/reference.ts';
import { bookHeld } from './booking.ts';
import { paysOut } from './connector-of.ts';
import type { PayoutConnector } from './connector-of.ts';
import type { TransferContext } from './context.ts';
import { checkAndCountTransfer } from './limits.ts';
import { insertTransfer } from './queries.ts';
import { appendTransferEvent } from './transfer-change.ts';
import { sendWork } from './transfer-work.ts';
import type { Transfer, TransferKind } from './transfer.ts';

/** What a merchant asks for. */
export interface NewTransfer {
  amountMinor: bigint;
  currency: string | null;
  network: string;
  accountNumber: string;
  beneficiaryName: string;
  narration: string | null;
  callbackUrl: string | null;
  metadata: JsonRecord;
}

/**
 * Accepts an order to pay out: its money is held, and order, event and the work for a worker stand or fall together. No
 * network is called here.
 *
 * Throws AppError `amount_out_of_bounds`, `currency_not_supported`, `network_not_available`, `account_number_invalid`,
 * `url_not_allowed`, `limit_exceeded` and `insufficient_balance`.
 */
export async function createTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  request: NewTransfer,
): Promise<Transfer> {
  const { network } = choosePayoutNetwork(context, merchant, request).capabilities;
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
    feeMinor: transferFee(merchant, network, request.amountMinor),
    accountCanonical,
  });
  await acceptTransfer(tx, context, merchant, transfer);
  return transfer;
}

/** Amount, currency and network of an order, or the refusal that names the field. */
export function choosePayoutNetwork(
  context: TransferContext,
  merchant: Merchant,
  request: Pick<NewTransfer, 'amountMinor' | 'currency' | 'network'>,
): PayoutConnector {
  const { amountMinor, currency } = request;
  if (currency !== null && currency !== merchant.currency) {
    const message = `Transfers are in ${merchant.currency} here. Send ${merchant.currency} or leave currency out.`;
    throw fieldError('currency_not_supported', 'currency', message);
  }
  const { amountMinMinor, amountMaxMinor } = context.settings;
  if (amountMinor < amountMinMinor || amountMinor > amountMaxMinor) {
    const bounds = `${formatAmount(amountMinMinor)} to ${formatAmount(amountMaxMinor)}`;
    throw fieldError('amount_out_of_bounds', 'amount', `The amount must be from ${bounds}.`);
  }
  const connectors = context.networks.list(merchant.testMode).filter(paysOut);
  const connector = connectors.find(({ capabilities }) => capabilities.network === request.network);
  if (!connector) {
    const names = connectors.map(({ capabilities }) => capabilities.network).join(', ');
    const choices = names === '' ? 'No network pays out in this environment.' : `Choose among ${names}.`;
    throw fieldError('network_not_available', 'network', `${request.network} cannot pay out. ${choices}`);
  }
  const { amountStepMinor } = connector.payouts.capabilities;
  if (amountMinor % amountStepMinor !== 0n) {
    const step = formatAmount(amountStepMinor);
    const message = `${connector.capabilities.displayName} pays out multiples of ${step}. Change the amount.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  return connector;
}

interface TransferOrder {
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
}

function newTransfer(context: TransferContext, merchant: Merchant, order: TransferOrder): Transfer {
  const now = context.clock.now();
  return {
    merchantId: merchant.id,
    id: context.newId(),
    kind: order.kind,
    status: 'pending',
    amountMinor: order.amountMinor,
    feeMinor: order.feeMinor,
    currency: merchant.currency,
    network: order.network,
    accountNumber: order.accountNumber,
    accountCanonical: order.accountCanonical,
    beneficiaryName: order.beneficiaryName,
    narration: order.narration,
    callbackUrl: order.callbackUrl,
    metadata: order.metadata,
    reference: newReference(context.random, merchant),
    networkReference: null,
    networkTransactionId: null,
    networkHandles: null,
    progress: 'created',
    sends: 0n,
    sentAt: null,
    waitingFor: null,
    failureCode: null,
    failureReason: null,
    review: null,
    eventSequence: 1n,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
  };
}

/** What transfers of one merchant wait for is locked last: the day's total, then the balance. */
async function acceptTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  transfer: Transfer,
): Promise<void> {
  tx.send(insertTransfer(transfer));
  appendTransferEvent(tx, context, merchant, transfer, 'transfer.created');
  enqueue(tx, context, sendWork(merchant, transfer));
  await checkAndCountTransfer(tx, merchant, { amountMinor: transfer.amountMinor, at: transfer.createdAt });
  await bookHeld(tx, context, transfer);
}
