import type { JsonRecord } from '../events/kinds.ts';
import { canonicalAccountNumber } from '../kit/account-number.ts';
import { fieldError } from '../kit/app-error.ts';
import { checkCallbackUrl } from '../kit/callback-url.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { transferFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { refuseWithoutNetwork } from '../networks/registry.ts';
import { acceptTransfer, newTransfer } from './accept-transfer.ts';
import { paysOut } from './connector-of.ts';
import type { PayoutConnector } from './connector-of.ts';
import type { TransferContext } from './context.ts';
import { ownAccount } from './transfer-kinds.ts';
import { totalMinor } from './transfer.ts';
import type { Transfer } from './transfer.ts';

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
 * `url_not_allowed`, `limit_exceeded`, `merchant_owes` and `insufficient_balance`.
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
  const from = [{ account: ownAccount(transfer), amountMinor: totalMinor(transfer) }];
  await acceptTransfer(tx, context, merchant, transfer, from);
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
  refuseWithoutNetwork(context.networks, merchant, 'network');
  const connectors = context.networks.list(merchant.testMode).filter(paysOut);
  const connector = connectors.find(({ capabilities }) => capabilities.network === request.network);
  if (!connector) {
    const names = connectors.map(({ capabilities }) => capabilities.network).join(', ');
    const choices = names === '' ? 'No network pays out in this environment.' : `Choose among ${names}.`;
    throw fieldError('network_not_available', 'network', `${request.network} cannot pay out. ${choices}`);
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
