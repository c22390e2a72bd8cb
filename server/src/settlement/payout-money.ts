import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferContext } from '../transfers/context.ts';
import { lockFeeMoney, noFeeMoney } from './plan-payout.ts';
import type { FeeMoney } from './plan-payout.ts';
import { repayFromSettled } from './repay-debts.ts';

/**
 * Locks what payouts of these sub-accounts are taken from, fees and `others`, after those that owe have repaid what they can.
 * Where nothing is charged, payouts of one merchant do not wait for each other.
 */
export async function lockPayoutMoney(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  query: { subAccountIds: readonly string[]; others: readonly Account[]; costs: boolean },
): Promise<{ feeMoney: FeeMoney; balances: ReadonlyMap<Account, bigint> }> {
  let feeMoney = noFeeMoney;
  const lockMerchant = async (): Promise<void> => {
    if (query.costs) feeMoney = await lockFeeMoney(tx, context, merchant);
  };
  const balances = await repayFromSettled(tx, context, merchant, { ...query, lockMerchant });
  return { feeMoney, balances };
}
