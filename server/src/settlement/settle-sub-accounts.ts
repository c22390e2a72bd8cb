import { AppError } from '../kit/app-error.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { payoutMinimumMinor } from './plan-payout.ts';
import { insertRunOnce, listUnsettled } from './queries.ts';
import { settleBatch } from './settle-batch.ts';
import type { SettledTotals } from './settle-batch.ts';

export { countUnsettled } from './queries.ts';

/** What a run has done so far. */
export interface RunTotals extends SettledTotals {
  /** Sub-accounts that were looked at. */
  seen: number;
  /** Sub-accounts for which something went wrong; they are still due. */
  failed: number;
}

export interface SettlementRun {
  merchant: Merchant;
  period: string;
  /** Whether those are tried again that the period could not pay out before. */
  retriesRefused: boolean;
  /** Ends the run after the batches under way; what is left is found by the next. */
  stopped?: AbortSignal;
  onProgress?: (totals: Readonly<RunTotals>) => void;
}

// One look at this many, of which those with enough money are paid out.
const pageRows = 500;
// A batch is one transaction, short enough to keep nobody waiting who wants to delete or pay out one of its sub-accounts.
const batchRows = 100;
// Batches side by side: one alone leaves the database waiting for us half of the time.
const batchesAtOnce = 3;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Pays out every settled balance of a merchant that is large enough, once in a period. It can be interrupted and
 * repeated at any moment, and done by several at once: what is paid out is noted with the payout itself.
 */
export async function settleSubAccounts(context: TransferContext, run: SettlementRun): Promise<RunTotals> {
  const { db, clock } = context;
  const { merchant, period, retriesRefused } = run;
  const totals: RunTotals = { seen: 0, payouts: 0, amountMinor: 0n, refused: 0, failed: 0 };
  let after = firstId;
  while (run.stopped?.aborted !== true) {
    const page = await listUnsettled(db, { merchantId: merchant.id, period, retriesRefused, after, rowsMax: pageRows });
    const last = page.at(-1);
    if (last === undefined) {
      // Whoever failed is due until it is done.
      if (totals.failed === 0)
        await db.run(insertRunOnce({ merchantId: merchant.id, period, finishedAt: clock.now() }));
      return totals;
    }
    await settleDue(context, run, totals, await withEnough(context, merchant, page));
    totals.seen += page.length;
    run.onProgress?.(totals);
    after = last;
  }
  return totals;
}

async function withEnough({ db }: TransferContext, merchant: Merchant, page: readonly string[]): Promise<string[]> {
  const accounts = page.map(settledAccount);
  const balances = await readBalances(db, { merchantId: merchant.id, currency: merchant.currency, accounts });
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
  const workers = Array.from({ length: Math.min(batchesAtOnce, batches.length) }, async () => {
    for (const batch of next) add(totals, await settleBatchOrEach(context, run, batch));
  });
  // Together: of two that fail, one that nobody waits for would end the process.
  const outcomes = await Promise.allSettled(workers);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

type BatchTotals = SettledTotals & Pick<RunTotals, 'failed'>;

/** A batch that fails is done one by one, so that one sub-account that cannot be settled keeps no other from it. */
async function settleBatchOrEach(
  context: TransferContext,
  run: SettlementRun,
  batch: readonly string[],
): Promise<BatchTotals> {
  try {
    return { ...(await settleThese(context, run, batch)), failed: 0 };
  } catch (error) {
    if (isAway(error)) throw error;
    const totals: BatchTotals = { payouts: 0, amountMinor: 0n, refused: 0, failed: 0 };
    for (const id of batch) add(totals, await settleAlone(context, run, id));
    return totals;
  }
}

async function settleAlone(context: TransferContext, run: SettlementRun, id: string): Promise<BatchTotals> {
  try {
    return { ...(await settleThese(context, run, [id])), failed: 0 };
  } catch (error) {
    if (isAway(error)) throw error;
    context.log.error('settling a sub-account failed and will be tried again', error, {
      merchant_id: run.merchant.id,
    });
    return { payouts: 0, amountMinor: 0n, refused: 0, failed: 1 };
  }
}

function settleThese(
  context: TransferContext,
  { merchant, period }: SettlementRun,
  subAccountIds: readonly string[],
): Promise<SettledTotals> {
  return context.db.withTransaction((tx) => settleBatch(tx, context, merchant, { period, subAccountIds }));
}

/** A database that does not answer is nobody's fault among the sub-accounts: the run ends, and goes on later. */
function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}

function add(totals: BatchTotals, more: BatchTotals): void {
  totals.payouts += more.payouts;
  totals.amountMinor += more.amountMinor;
  totals.refused += more.refused;
  totals.failed += more.failed;
}
