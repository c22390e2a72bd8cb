import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { lockBalance } from '../ledger/post.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { acceptPayout, lockFeeMoney, mayCost, noFeeMoney, oweFees, planPayout } from './plan-payout.ts';
import { lockBeneficiaries } from './queries.ts';

/**
 * Accepts an order to pay a sub-account out, all it has or `amountMinor` bututs: its money is held, and the transfer and
 * the work for a worker stand or fall together. No network is called here.
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
  const costs = mayCost(context, merchant, beneficiary.settlementCode);
  const feeMoney = costs ? await lockFeeMoney(tx, context, merchant) : noFeeMoney;
  const settledMinor = await lockBalance(tx, { merchantId: merchant.id, currency: merchant.currency, account });
  const { amountMinor } = request;
  const payout = planPayout(context, merchant, beneficiary, { settledMinor, feeMoney, amountMinor });
  await oweFees(tx, context, merchant, [payout], feeMoney);
  await acceptPayout(tx, context, merchant, payout);
  return payout;
}
