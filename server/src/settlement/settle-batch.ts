import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer } from '../transfers/transfer.ts';
import {
  acceptPayout,
  hasFee,
  heldUntil,
  lockPayoutMoney,
  oweFees,
  payoutMinimumMinor,
  planPayout,
  type FeeMoney,
} from './plan-payout.ts';
import { claimPeriods, lockBeneficiaries, type Beneficiary, type SettledPeriod } from './queries.ts';

/** The results of a run so far. */
export interface SettledTotals {
  payouts: number;
  amountMinor: bigint;
  /** Sub-accounts that could not be paid out in this period. */
  refused: number;
  /** Those whose changed destination is held, or whose network the operator has paused; they stay due. */
  held: number;
}

interface Plan {
  payouts: Transfer[];
  feeMoney: FeeMoney;
  refusals: { subAccountId: string; refusal: AppError }[];
  held: number;
}

/**
 * Creates the payouts of a period for several sub-accounts of a merchant, in the caller's transaction. Each claims the period
 * together with its payout, so concurrent and repeated runs pay none twice. A refusal is recorded and does not stop the
 * others.
 */
export async function settleBatch(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  { period, subAccountIds }: { period: string; subAccountIds: readonly string[] },
): Promise<SettledTotals> {
  const plan = await planBatch(tx, context, merchant, await lockBeneficiaries(tx, merchant.id, subAccountIds));
  const claims: SettledPeriod[] = [
    ...plan.payouts.map(({ id, subAccountId }) => ({
      subAccountId: subAccountId ?? '',
      transferId: id,
      refusal: null,
    })),
    ...plan.refusals.map(({ subAccountId, refusal }) => ({ subAccountId, transferId: null, refusal: refusal.code })),
  ];
  const { held } = plan;
  if (claims.length === 0) return { payouts: 0, amountMinor: 0n, refused: 0, held };
  claims.sort((one, other) => (one.subAccountId < other.subAccountId ? -1 : 1));
  const claimed = await claimPeriods(tx, { merchantId: merchant.id, period, now: context.clock.now() }, claims);
  const payouts = plan.payouts.filter(({ subAccountId }) => claimed.has(subAccountId ?? ''));
  const refusals = plan.refusals.filter(({ subAccountId }) => claimed.has(subAccountId));
  await oweFees(tx, context, merchant, payouts, plan.feeMoney);
  await acceptTogether(tx, context, merchant, payouts);
  await checkDebts(tx, merchant, payouts);
  logRefusals(tx, context.log, merchant.id, refusals);
  return {
    payouts: payouts.length,
    amountMinor: payouts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    refused: refusals.length,
    held,
  };
}

/** Records that a sub-account cannot be paid out in a period, where that shows only once its payout is stored. */
export async function refusePayout(
  tx: Transaction,
  { clock, log }: TransferContext,
  { id: merchantId }: Merchant,
  { period, subAccountId, refusal }: { period: string; subAccountId: string; refusal: AppError },
): Promise<SettledTotals> {
  const claim = { subAccountId, transferId: null, refusal: refusal.code };
  const claimed = await claimPeriods(tx, { merchantId, period, now: clock.now() }, [claim]);
  if (claimed.size > 0) logRefusals(tx, log, merchantId, [{ subAccountId, refusal }]);
  return { payouts: 0, amountMinor: 0n, refused: claimed.size, held: 0 };
}

async function planBatch(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  beneficiaries: readonly Beneficiary[],
): Promise<Plan> {
  const ledger = { merchantId: merchant.id, currency: merchant.currency };
  const hasFees = beneficiaries.some(({ settlementCode }) => hasFee(context, merchant, settlementCode));
  const subAccountIds = beneficiaries.map(({ id }) => id);
  const { feeMoney } = await lockPayoutMoney(tx, context, merchant, { subAccountIds, accounts: [], hasFees });
  const balances = await readBalances(tx, { ...ledger, accounts: subAccountIds.map(settledAccount) });
  const debts = await readDebts(tx, ledger, subAccountIds);
  const pausedNetworks = new Set(context.networks.pausedPayouts(merchant));
  const plan: Plan = { payouts: [], feeMoney, refusals: [], held: 0 };
  for (const beneficiary of beneficiaries) {
    const settledMinor = balances.get(settledAccount(beneficiary.id)) ?? 0n;
    const owedMinor = debts.get(beneficiary.id) ?? 0n;
    if (settledMinor - owedMinor < payoutMinimumMinor) continue;
    const isPaused = pausedNetworks.has(beneficiary.settlementCode);
    if (isPaused || heldUntil(merchant, beneficiary, context.clock.now()) !== null) {
      plan.held += 1;
      continue;
    }
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
 * Sends their statements together, in the order of the sub-accounts, which is the order of locks. Waits for all of them even
 * when one fails: a statement sent after the rollback would run outside of the transaction.
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
 * Rolls the batch back where a sub-account has begun to owe since its debt was read. The accounts are locked by now, and a
 * transaction that makes a debt locks them too. Settling again, one by one, repays first.
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

/** One line for each reason; `settlement_periods` lists the sub-accounts. */
function logRefusals(tx: Transaction, log: Log, merchantId: string, refusals: Plan['refusals']): void {
  tx.afterCommit(() => {
    for (const [code, { length: count }] of Map.groupBy(refusals, ({ refusal }) => refusal.code)) {
      log.warn('sub-accounts cannot be paid out in this period', { merchant_id: merchantId, code, count });
    }
  });
}
