import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferContext } from './context.ts';
import { addToTransferDay, sumPendingOfAccounts } from './queries.ts';
import type { Transfer } from './transfer.ts';

/**
 * What a business collects with its own account at a network lies there, and the operator does not have it. So the operator's
 * accounts pay out for such a business at most what they have collected for it. Call it once the transfer is stored and its
 * money held. Throws AppError `insufficient_balance`. Costs no statement for a business without an account of its own.
 */
export async function refuseMoneyElsewhere(
  tx: Transaction,
  { networks }: Pick<TransferContext, 'networks'>,
  merchant: Merchant,
  transfer: Transfer,
): Promise<void> {
  const { network, railAccount, currency, route } = transfer;
  // Test money lies nowhere, and a refund by its network takes the money back from where it came.
  if (merchant.testMode || route === 'network' || railAccount === null) return;
  const connected = networks.list(false).map(({ capabilities }) => capabilities);
  if (!connected.some(({ merchantId }) => merchantId === merchant.id)) return;
  if (networks.find({ railAccount, network })?.capabilities.merchantId !== null) return;
  const operators = connected.flatMap((each) => (each.merchantId === null ? [each.railAccount] : []));
  const railAccounts = [...new Set(operators)];
  // Locks the day's row, so that of two payouts at once, as of two sub-accounts, the second sees the first.
  tx.send(addToTransferDay({ ...transfer, amountMinor: 0n }));
  // Before the floats: a payout that completes in between is counted in both, never in neither.
  const pendingMinor = await sumPendingOfAccounts(tx, { merchantId: merchant.id, railAccounts });
  const accounts = railAccounts.map((name) => `float:${name}` as const);
  const floats = await readBalances(tx, { merchantId: merchant.id, currency, accounts });
  const collectedMinor = [...floats.values()].reduce((sum, balance) => sum + balance, 0n);
  if (pendingMinor <= collectedMinor) return;
  const message =
    `The operator’s account can pay out ${formatAmount(collectedMinor > 0n ? collectedMinor : 0n)} for you, with what is on its ` +
    'way: the rest of your money lies in your own account at a network. Pay out with that network.';
  throw new AppError('insufficient_balance', message);
}
