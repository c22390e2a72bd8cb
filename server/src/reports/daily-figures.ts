import { idBeforeAll } from '../kit/ids.ts';
import { addMs, dayMs, utcDay, type Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { computeFigures, type Owner } from './live-figures.ts';
import {
  deleteDaily,
  deleteProgress,
  findFirstActivity,
  insertDaily,
  insertProgressOnce,
  listMerchantsToRollUp,
  lockNextDay,
  updateProgress,
} from './queries/daily.ts';

export interface RollUpContext {
  db: Database;
  clock: Clock;
  log: Log;
}

// Longer than the clocks of two processes differ and any transaction takes, so that nothing is booked for a day that is closed.
const closesAfterMs = 60 * 60_000;
// A batch of days in one transaction, so that a merchant's backlog needs few and none is long.
const daysPerBatch = 7;
const merchantsPerPage = 100;
const rowsPerInsert = 50;

/** The first day that is not closed yet. */
function firstOpenDay(now: Date): string {
  return utcDay(addMs(now, -closesAfterMs));
}

/**
 * Rolls up the closed days of every merchant. Of concurrent runs each day is written by one. Returns how many merchants it
 * brought up to date; one that fails is logged and tried again with the next run.
 */
export async function rollUpFigures({ db, clock, log }: RollUpContext): Promise<number> {
  const closedBefore = firstOpenDay(clock.now());
  let count = 0;
  for (let after = idBeforeAll; ;) {
    const merchants = await listMerchantsToRollUp(db, { closedBefore, after, rowsMax: merchantsPerPage });
    const last = merchants.at(-1);
    if (!last) return count;
    for (const merchant of merchants) {
      try {
        await rollUpMerchant(db, merchant, closedBefore);
        count += 1;
      } catch (error) {
        log.error('daily figures could not be rolled up', error, { merchant_id: merchant.id });
      }
    }
    after = last.id;
  }
}

async function rollUpMerchant(db: Database, merchant: Owner, closedBefore: string): Promise<void> {
  const startedAt = await findFirstActivity(db, merchant.id);
  const firstDay = startedAt === null ? closedBefore : utcDay(startedAt);
  for (let days = daysPerBatch; ;) {
    try {
      if (!(await rollUpBatch(db, merchant, { firstDay, closedBefore, days }))) return;
    } catch (error) {
      // So many payments that a batch takes too long: day by day it fits.
      if (days === 1) throw error;
      days = 1;
    }
  }
}

/** Returns whether closed days are left. */
function rollUpBatch(
  db: Database,
  merchant: Owner,
  { firstDay, closedBefore, days }: { firstDay: string; closedBefore: string; days: number },
): Promise<boolean> {
  return db.withTransaction(async (tx) => {
    tx.send(insertProgressOnce(merchant.id, firstDay < closedBefore ? firstDay : closedBefore));
    const nextDay = (await lockNextDay(tx, merchant.id)) ?? closedBefore;
    if (nextDay >= closedBefore) return false;
    const from = new Date(nextDay);
    const to = new Date(Math.min(addMs(from, days * dayMs).getTime(), Date.parse(closedBefore)));
    const rows = await computeFigures(tx, merchant, { unit: 'day', from, to });
    const daily = rows.map(({ slot, ...row }) => ({ ...row, day: utcDay(slot) }));
    for (let first = 0; first < daily.length; first += rowsPerInsert) {
      tx.send(insertDaily(merchant.id, daily.slice(first, first + rowsPerInsert)));
    }
    tx.send(updateProgress(merchant.id, utcDay(to)));
    return utcDay(to) < closedBefore;
  });
}

/**
 * Forgets a merchant's rolled-up days, in the transaction that writes history for days that were closed: the next run rolls them
 * up again, and until then they are computed.
 */
export function resetDailyFigures(tx: Transaction, merchantId: string): void {
  // Waits for a roll-up that holds this row, so that the days it writes are there to be deleted.
  tx.send(deleteProgress(merchantId));
  tx.send(deleteDaily(merchantId));
}
