import { AppError } from '../api/app-error.ts';
import { idBeforeAll } from '../kit/ids.ts';
import { PublicError } from '../kit/public-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { payoutMinimumMinor } from './plan-payout.ts';
import { insertRunOnce, listUnsettled } from './queries.ts';
import { refusePayout, settleBatch, type SettledTotals } from './settle-batch.ts';

export { countUnsettled } from './queries.ts';

/** The results of a run so far. */
export interface RunTotals extends SettledTotals {
  /** Sub-accounts that the run has visited. */
  seen: number;
  /** Sub-accounts that failed; they are still due. */
  failed: number;
}

export interface SettlementRun {
  merchant: Merchant;
  period: string;
  /** Whether to retry sub-accounts whose payout the period has refused. */
  retriesRefused: boolean;
  /** Ends the run after the batches in progress; the next run settles the rest. */
  stopped?: AbortSignal;
  onProgress?: (totals: Readonly<RunTotals>) => void;
}

// Sub-accounts listed at once, of which those with enough money are paid out.
const pageRows = 500;
// A batch is one transaction, short enough that deletions and payouts of its sub-accounts do not wait long.
const batchRows = 100;
// With a single batch at a time the database is idle half of the time.
const concurrentBatches = 3;

/**
 * Pays out every settled balance of a merchant that is large enough, once in a period. A run can be interrupted, repeated
 * and concurrent with others: the period is claimed in the transaction of the payout.
 */
export async function settleSubAccounts(context: TransferContext, run: SettlementRun): Promise<RunTotals> {
  const { db, clock } = context;
  const { merchant, period, retriesRefused } = run;
  const totals: RunTotals = { seen: 0, payouts: 0, amountMinor: 0n, refused: 0, held: 0, failed: 0 };
  let after = idBeforeAll;
  while (run.stopped?.aborted !== true) {
    const page = await listUnsettled(db, { merchantId: merchant.id, period, retriesRefused, after, rowsMax: pageRows });
    const last = page.at(-1);
    if (last === undefined) {
      // With failures the period stays due, and while a changed destination is held or a network paused.
      if (totals.failed + totals.held === 0)
        await db.run(insertRunOnce({ merchantId: merchant.id, period, finishedAt: clock.now() }));
      return totals;
    }
    await settleDue(context, run, totals, await withPayableBalance(db, merchant, page));
    totals.seen += page.length;
    run.onProgress?.(totals);
    after = last;
  }
  return totals;
}

async function withPayableBalance(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  page: readonly string[],
): Promise<string[]> {
  const balances = await readBalances(db, { merchantId, currency, accounts: page.map(settledAccount) });
  return page.filter((id) => (balances.get(settledAccount(id)) ?? 0n) >= payoutMinimumMinor);
}

async function settleDue(
  context: TransferContext,
  run: SettlementRun,
  totals: RunTotals,
  due: readonly string[],
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(due.length / batchRows) }, (_, index) =>
    due.slice(index * batchRows, (index + 1) * batchRows),
  );
  const next = batches.values();
  const workers = Array.from({ length: Math.min(concurrentBatches, batches.length) }, async () => {
    for (const batch of next) add(totals, await settleBatchOrEach(context, run, batch));
  });
  // All of them are awaited: an unhandled second rejection would end the process.
  const outcomes = await Promise.allSettled(workers);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

type BatchTotals = Omit<RunTotals, 'seen'>;

/** Settles a failed batch one by one, so that one sub-account that fails does not stop the others. */
async function settleBatchOrEach(
  context: TransferContext,
  { merchant, period }: SettlementRun,
  batch: readonly string[],
): Promise<BatchTotals> {
  const inTransaction = async (body: (tx: Transaction) => Promise<SettledTotals>): Promise<BatchTotals> => ({
    ...(await context.db.withTransaction(body)),
    failed: 0,
  });
  const settle = (subAccountIds: readonly string[]): Promise<BatchTotals> =>
    inTransaction((tx) => settleBatch(tx, context, merchant, { period, subAccountIds }));
  try {
    return await settle(batch);
  } catch (error) {
    if (isUnavailable(error)) throw error;
  }
  const totals: BatchTotals = { payouts: 0, amountMinor: 0n, refused: 0, held: 0, failed: 0 };
  for (const id of batch) {
    try {
      add(totals, await settle([id]));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (isForWantOfMoney(error)) {
        const refused = { period, subAccountId: id, refusal: error };
        add(totals, await inTransaction((tx) => refusePayout(tx, context, merchant, refused)));
        continue;
      }
      context.log.error('settling a sub-account failed and will be retried', error, { merchant_id: merchant.id });
      totals.failed += 1;
    }
  }
  return totals;
}

/** Trying again does not help, as where the money lies in the business's own account at a network (`refuseMoneyElsewhere`). */
function isForWantOfMoney(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'insufficient_balance';
}

/** An unreachable database is no failure of a sub-account: the run ends, and the next one continues. */
function isUnavailable(error: unknown): boolean {
  return error instanceof PublicError && error.code === 'unavailable';
}

function add(totals: BatchTotals, more: BatchTotals): void {
  totals.payouts += more.payouts;
  totals.amountMinor += more.amountMinor;
  totals.refused += more.refused;
  totals.held += more.held;
  totals.failed += more.failed;
}
