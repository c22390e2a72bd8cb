import { addMs, type Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { firstIdAt, idBeforeAll } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { formatAmount } from '../kit/money.ts';
import { accountKinds } from './accounts.ts';
import {
  addToCheckpoints,
  deleteCheckpoints,
  findCheckpointEnd,
  insertCheckOnce,
  listMerchantsToCheck,
  listWrongAccounts,
  lockCheck,
  sumMovementsBetween,
  updateCheck,
  type CheckedRow,
} from './queries/checkpoints.ts';
import { allowLongVerification, insertVerification } from './queries/verifications.ts';

export { summarizeChecks } from './queries/checkpoints.ts';

export interface CheckContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  log: Log;
}

// A little less than the interval, so that of several processes the first to come checks a merchant, and no round is left out.
const checkedAgainAfterMs = 4.5 * 60_000;
const merchantsPerPage = 100;
// A movement that is committed later than this is behind the checkpoint, which is then computed again.
const settlesAfterMs = 60_000;
// So few are summed at each check as fast as the row of a checkpoint is written.
const movementsWorthCheckpoint = 500n;
// Of one statement: more take the next round.
const movementsPerStep = 50_000;
// A merchant may have as many accounts as sub-accounts.
const accountsPerInsert = 200;

const namesOf = (matches: (kind: (typeof accountKinds)[keyof typeof accountKinds]) => boolean): string[] =>
  Object.entries(accountKinds).flatMap(([name, kind]) => (matches(kind) ? [name] : []));
const debitKinds = namesOf(({ side }) => side === 'debit');
const guardedKinds = namesOf(({ guarded }) => guarded);

/**
 * Compares every merchant's balances with its movements, of which it reads only those since the merchant's checkpoint. Where they
 * disagree, all movements are read before anything is called wrong. Returns how many merchants it checked.
 */
export async function checkLedgers(context: CheckContext): Promise<number> {
  const { db, clock, log } = context;
  const before = addMs(clock.now(), -checkedAgainAfterMs);
  let count = 0;
  for (let after = idBeforeAll; ;) {
    const merchantIds = await listMerchantsToCheck(db, { before, after, rowsMax: merchantsPerPage });
    const last = merchantIds.at(-1);
    if (last === undefined) return count;
    for (const merchantId of merchantIds) {
      try {
        if (await checkMerchant(context, merchantId, before)) count += 1;
      } catch (error) {
        log.error('a ledger could not be checked', error, { merchant_id: merchantId });
      }
    }
    after = last;
  }
}

/** False where another process checks it, or has done so since that time. */
async function checkMerchant(context: CheckContext, merchantId: string, before: Date): Promise<boolean> {
  const { db, clock, log } = context;
  const checked = await db.withTransaction(async (tx) => {
    tx.send(allowLongVerification());
    tx.send(insertCheckOnce(merchantId, { throughId: idBeforeAll, checkedAt: new Date(0), problem: null }));
    const check = await lockCheck(tx, merchantId);
    if (!check || check.checkedAt > before) return null;
    const now = clock.now();
    const beforeId = firstIdAt(addMs(now, -settlesAfterMs));
    let { throughId } = check;
    let wrong = await listWrongAccounts(tx, merchantId, { ...kinds, throughId, usesCheckpoint: true });
    if (wrong.length > 0 && throughId !== idBeforeAll) {
      // A movement that was committed behind the checkpoint, or a checkpoint that somebody has changed.
      wrong = await listWrongAccounts(tx, merchantId, { ...kinds, throughId: idBeforeAll, usesCheckpoint: false });
      tx.send(deleteCheckpoints(merchantId));
      throughId = idBeforeAll;
    }
    // Not as far as to what is being looked for.
    if (wrong.length === 0) throughId = await moveCheckpoint(tx, merchantId, { throughId, beforeId });
    const found = wrong[0] ? problemOf(merchantId, wrong[0]) : null;
    tx.send(updateCheck(merchantId, { throughId, checkedAt: now, problem: found }));
    if (found !== null && found !== check.problem) recordWrong(tx, context, found);
    return { problem: found };
  });
  if (checked === null) return false;
  const { problem } = checked;
  if (problem !== null)
    log.error('the ledger is WRONG: see docs/operations.md, "Verifying the ledger"', new Error(problem));
  return true;
}

const kinds = { debitKinds, guardedKinds };

/** Adds the movements since the checkpoint to it, if there are enough. Returns how far it goes then. */
async function moveCheckpoint(
  tx: Transaction,
  merchantId: string,
  { throughId: first, beforeId }: { throughId: string; beforeId: string },
): Promise<string> {
  let throughId = first;
  for (;;) {
    const end = await findCheckpointEnd(tx, merchantId, { throughId, beforeId, rowsMax: movementsPerStep });
    if (end === null || end.count < movementsWorthCheckpoint) return throughId;
    const sums = await sumMovementsBetween(tx, merchantId, { debitKinds, afterId: throughId, throughId: end.id });
    for (let from = 0; from < sums.length; from += accountsPerInsert) {
      tx.send(addToCheckpoints(merchantId, sums.slice(from, from + accountsPerInsert)));
    }
    throughId = end.id;
  }
}

/** Shown in the console and by the metric, as what a verification of the whole ledger finds. */
function recordWrong(tx: Transaction, { clock, newId }: CheckContext, problem: string): void {
  const counts = { scope: 'changes of one merchant', movements: 0n, accounts: 0n };
  tx.send(insertVerification({ id: newId(), verifiedAt: clock.now(), isCorrect: false, problem, ...counts }));
}

function problemOf(merchantId: string, { account, stored, moved, open }: CheckedRow): string {
  const dalasi = (minor: string): string => formatAmount(BigInt(minor), { style: 'plain' });
  const where = `Merchant ${merchantId}, account ${account}: the balance says ${dalasi(stored)}`;
  if (stored !== moved) return `${where}, the movements say ${dalasi(moved)}.`;
  if (account === 'held' && stored !== open) return `${where}, the open holds say ${dalasi(open)}.`;
  return `${where} and must not be below zero.`;
}
