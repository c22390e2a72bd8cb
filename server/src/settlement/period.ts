import { addMs } from '../kit/clock.ts';
import type { PayoutSchedule } from '../merchants/payout-schedule.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** The UTC day of `at`, `2026-11-20`. UTC is the time of The Gambia. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** The Monday with which the UTC week of `at` begins. */
export function weekOf(at: Date): string {
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  return dayOf(addMs(at, -daysSinceMonday * dayMs));
}

/** The period that `at` is in, named by its first day; by hand it is a day. */
export function periodOf(schedule: PayoutSchedule, at: Date): string {
  return schedule === 'weekly' ? weekOf(at) : dayOf(at);
}
