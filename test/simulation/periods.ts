import { utcDay } from '../../server/src/kit/clock.ts';
import { hasLiveMerchant, type Fault, type Plan } from './plan.ts';
import type { Passing } from './passing.ts';
import type { World } from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
// One of them begins a week: runs begin on a Friday.
const periodsCount = 3;
// From which a sub-account is paid out.
const payoutMinimumMinor = 1_000;

/**
 * Where payouts are scheduled, those of further days follow, and more is collected while both workers pay them out. The first of these
 * days begins while the only network of a live merchant is paused, where its plan has that: it is paid out once the network is resumed.
 */
export async function passPeriods(world: World, plan: Plan, passing: Passing): Promise<string | null> {
  const { acts, room, networkPauses } = world;
  if (plan.acts.every(({ kind }) => kind !== 'schedule_payouts')) return null;
  const slow = plan.faults.filter(({ kind }) => kind === 'slow_settlement');
  if (hasLiveMerchant(plan)) await passing.untilDone(acts.collectShares('before the periods'));
  for (let period = 1; period <= periodsCount; period += 1) {
    slowDown(world, slow[period - 1]);
    const isPaused = period === 1 && hasLiveMerchant(plan);
    if (isPaused) await passing.untilDone(networkPauses.set(false));
    const due = await listDue(world);
    const { passedMs } = room.clock;
    await passing.pass(dayMs - (passedMs % dayMs) + minuteMs);
    const day = utcDay(new Date(room.clock.passedMs));
    if (isPaused) {
      await passing.untilIdle();
      await passing.pass(hourMs);
      await passing.untilDone(networkPauses.set(true));
      await passMinutes(passing);
    }
    await passing.untilDone(acts.collectShares(`of period ${period}`));
    await passMinutes(passing);
    const unfinished = await passing.finish();
    if (unfinished !== null) return unfinished;
    const unpaid = await findUnpaid(world, { day, due });
    if (unpaid !== undefined) return `periods: ${unpaid} had enough when the day began, and was not paid out`;
  }
  return null;
}

/** Workers look every half a minute for whom a period is due. */
async function passMinutes(passing: Passing): Promise<void> {
  for (let minute = 1; minute <= 2; minute += 1) {
    await passing.untilIdle();
    await passing.pass(minuteMs);
  }
  await passing.untilIdle();
}

function slowDown({ machines }: World, fault: Fault | undefined): void {
  const workers = machines.filter(({ role }) => role === 'worker');
  const worker = fault && workers[fault.choice % workers.length];
  if (worker) worker.databaseFault = 'slow_settlement';
}

/** The sub-accounts that are paid out daily, have enough and owe nothing. */
async function listDue({ room }: World): Promise<string[]> {
  const text = `SELECT sub_accounts.id FROM sub_accounts JOIN merchants ON merchants.id = sub_accounts.merchant_id
      JOIN ledger_movements moved ON moved.merchant_id = sub_accounts.merchant_id AND 'sub:' || sub_accounts.id IN (debit_account, credit_account)
    WHERE sub_account_payouts = 'daily' AND deleted_at IS NULL AND NOT EXISTS (SELECT FROM ledger_movements owed
      WHERE owed.merchant_id = sub_accounts.merchant_id AND owed.debit_account = 'sub_owed:' || sub_accounts.id)
    GROUP BY sub_accounts.id
    HAVING sum(CASE WHEN credit_account = 'sub:' || sub_accounts.id THEN amount ELSE -amount END) >= $1 ORDER BY 1`;
  const { rows } = await room.shared.database.asOwner<{ id: string }>(text, [payoutMinimumMinor]);
  return rows.map(({ id }) => id);
}

/** One of them that the day has not paid out. */
async function findUnpaid(
  { room }: World,
  { day, due }: { day: string; due: readonly string[] },
): Promise<string | undefined> {
  const { rows } = await room.shared.database.asOwner<{ id: string }>(
    'SELECT sub_account_id AS id FROM settlement_periods WHERE period = $1::date AND transfer_id IS NOT NULL',
    [day],
  );
  const paid = new Set(rows.map(({ id }) => id));
  return due.find((id) => !paid.has(id));
}
