import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { lockPayoutMoney } from './payout-money.ts';
import { acceptPayout, canCost, oweFees, payoutMinimumMinor, planPayout } from './plan-payout.ts';
import type { FeeMoney } from './plan-payout.ts';
import { claimPeriods, lockBeneficiaries } from './queries.ts';
import type { Beneficiary } from './queries.ts';

/** What a run has done so far. */
export interface SettledTotals {
  payouts: number;
  amountMinor: bigint;
  /** Sub-accounts that could not be paid out in this period. */
  refused: number;
}

interface Plan {
  payouts: Transfer[];
  feeMoney: FeeMoney;
  refusals: { subAccountId: string; refusal: AppError }[];
}

/**
 * Orders the payouts of a period for several sub-accounts of a merchant, in the caller's transaction: each takes the
 * period and its payout together, so none is paid twice, whoever else does the same and whenever it is repeated. One
 * that cannot be paid out is noted and keeps no other from it.
 */
export async function settleBatch(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  { period, subAccountIds }: { period: string; subAccountIds: readonly string[] },
): Promise<SettledTotals> {
  const plan = await planBatch(tx, context, merchant, await lockBeneficiaries(tx, merchant.id, subAccountIds));
  const claims = [
    ...plan.payouts.map(({ id, subAccountId }) => ({
      subAccountId: subAccountId ?? '',
      transferId: id,
      refusal: null,
    })),
    ...plan.refusals.map(({ subAccountId, refusal }) => ({ subAccountId, transferId: null, refusal: refusal.code })),
  ];
  const none = { payouts: 0, amountMinor: 0n, refused: 0 };
  if (claims.length === 0) return none;
  const at = { merchantId: merchant.id, period, now: context.clock.now() };
  const claimed = await claimPeriods(
    tx,
    at,
    claims.toSorted((one, other) => (one.subAccountId < other.subAccountId ? -1 : 1)),
  );
  const payouts = plan.payouts.filter(({ subAccountId }) => claimed.has(subAccountId ?? ''));
  const refusals = plan.refusals.filter(({ subAccountId }) => claimed.has(subAccountId));
  await oweFees(tx, context, merchant, payouts, plan.feeMoney);
  await acceptTogether(tx, context, merchant, payouts);
  await checkDebts(tx, merchant, payouts);
  logRefusals(tx, context, merchant, refusals);
  return {
    payouts: payouts.length,
    amountMinor: payouts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    refused: refusals.length,
  };
}

async function planBatch(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  beneficiaries: readonly Beneficiary[],
): Promise<Plan> {
  const at = { merchantId: merchant.id, currency: merchant.currency };
  const costs = beneficiaries.some(({ settlementCode }) => canCost(context, merchant, settlementCode));
  const subAccountIds = beneficiaries.map(({ id }) => id);
  const { feeMoney } = await lockPayoutMoney(tx, context, merchant, { subAccountIds, others: [], costs });
  const balances = await readBalances(tx, { ...at, accounts: subAccountIds.map(settledAccount) });
  const debts = await readDebts(tx, at, subAccountIds);
  const plan: Plan = { payouts: [], feeMoney: { ...feeMoney }, refusals: [] };
  for (const beneficiary of beneficiaries) {
    const settledMinor = balances.get(settledAccount(beneficiary.id)) ?? 0n;
    const owedMinor = debts.get(beneficiary.id) ?? 0n;
    if (settledMinor - owedMinor < payoutMinimumMinor) continue;
    try {
      const money = { settledMinor, owedMinor, feeMoney: plan.feeMoney, amountMinor: null };
      const payout = planPayout(context, merchant, beneficiary, money);
      plan.feeMoney.availableMinor -= payout.feeMinor;
      plan.payouts.push(payout);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      plan.refusals.push({ subAccountId: beneficiary.id, refusal: error });
    }
  }
  return plan;
}

/**
 * Their statements travel together, in the order of the sub-accounts, in which everybody locks them. All of them are
 * waited for also when one fails: a statement that came after the rollback would be on its own.
 */
async function acceptTogether(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  payouts: readonly Transfer[],
): Promise<void> {
  const accepted = await Promise.allSettled(payouts.map((payout) => acceptPayout(tx, context, merchant, payout)));
  const failed = accepted.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * Their accounts are locked by now, and whoever makes a debt locks them too: one that has begun since they were read undoes
 * the batch. It is done again one by one, and repays first.
 */
async function checkDebts(
  tx: Transaction,
  { id: merchantId, currency }: Merchant,
  payouts: readonly Transfer[],
): Promise<void> {
  const ids = payouts.map(({ subAccountId }) => subAccountId ?? '');
  const debts = await readDebts(tx, { merchantId, currency }, ids);
  if (debts.size > 0) throw new AppError('state_conflict', 'A sub-account has begun to owe. Settle it again.');
}

/** One line for each reason; which sub-accounts they are stands in the table. */
function logRefusals(
  tx: Transaction,
  { log }: TransferContext,
  { id: merchantId }: Merchant,
  refusals: Plan['refusals'],
): void {
  tx.afterCommit(() => {
    for (const [code, sameReason] of Map.groupBy(refusals, ({ refusal }) => refusal.code)) {
      const about = { merchant_id: merchantId, code, count: sameReason.length };
      log.warn('sub-accounts cannot be paid out in this period', about);
    }
  });
}
