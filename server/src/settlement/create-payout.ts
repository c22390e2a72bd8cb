import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { lockPayoutMoney } from './payout-money.ts';
import { acceptPayout, canCost, oweFees, planPayout } from './plan-payout.ts';
import { lockBeneficiaries } from './queries.ts';

/**
 * Accepts an order to pay a sub-account out, all it has or `amountMinor` bututs: its money is held, and the transfer and
 * the work for a worker stand or fall together. What it owes is repaid first. No network is called here.
 *
 * Throws AppError `not_found` and what `planPayout` refuses.
 */
export async function createPayout(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  request: { subAccountId: string; amountMinor: bigint | null },
): Promise<Transfer> {
  const [beneficiary] = await lockBeneficiaries(tx, merchant.id, [request.subAccountId]);
  if (!beneficiary) throw new AppError('not_found', 'There is no sub-account with this id in this environment.');
  const account = settledAccount(beneficiary.id);
  const { feeMoney, balances } = await lockPayoutMoney(tx, context, merchant, {
    subAccountIds: [beneficiary.id],
    others: [account],
    costs: canCost(context, merchant, beneficiary.settlementCode),
  });
  // Read under the lock: whoever makes a debt holds it too, so one that has begun since is seen here.
  const at = { merchantId: merchant.id, currency: merchant.currency };
  const owedMinor = (await readDebts(tx, at, [beneficiary.id])).get(beneficiary.id) ?? 0n;
  const settledMinor = balances.get(account) ?? 0n;
  const { amountMinor } = request;
  const payout = planPayout(context, merchant, beneficiary, { settledMinor, owedMinor, feeMoney, amountMinor });
  await oweFees(tx, context, merchant, [payout], feeMoney);
  await acceptPayout(tx, context, merchant, payout);
  return payout;
}
