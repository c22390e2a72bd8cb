import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { refuseSuspended } from '../merchants/business-status.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { acceptPayout, hasFee, lockPayoutMoney, oweFees, planPayout } from './plan-payout.ts';
import { lockBeneficiaries } from './queries.ts';

export type { PayoutRow } from './queries.ts';
export { listPayoutsOf } from './queries.ts';

/**
 * Creates a payout of a sub-account's whole settled balance, or of `amountMinor` bututs: holds the money, and stores the
 * transfer with the work to send it. A debt of the sub-account is repaid first. No network is called here.
 *
 * Throws AppError `not_found`, `state_conflict` for a suspended business, and what `planPayout` refuses.
 */
export async function createPayout(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  request: { subAccountId: string; amountMinor: bigint | null },
): Promise<Transfer> {
  refuseSuspended(merchant);
  const [beneficiary] = await lockBeneficiaries(tx, merchant.id, [request.subAccountId]);
  if (!beneficiary) throw new AppError('not_found', 'There is no sub-account with this id in this environment.');
  const account = settledAccount(beneficiary.id);
  const { feeMoney, balances } = await lockPayoutMoney(tx, context, merchant, {
    subAccountIds: [beneficiary.id],
    accounts: [account],
    hasFees: hasFee(context, merchant, beneficiary.settlementCode),
  });
  // Read under the account's lock, which a transaction that makes a debt holds too: a new debt is seen here.
  const ledger = { merchantId: merchant.id, currency: merchant.currency };
  const owedMinor = (await readDebts(tx, ledger, [beneficiary.id])).get(beneficiary.id) ?? 0n;
  const settledMinor = balances.get(account) ?? 0n;
  const { amountMinor } = request;
  const payout = planPayout(context, merchant, beneficiary, { settledMinor, owedMinor, feeMoney, amountMinor });
  await oweFees(tx, context, merchant, [payout], feeMoney);
  await acceptPayout(tx, context, merchant, payout);
  return payout;
}
