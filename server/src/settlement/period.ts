import { addMs, utcDay } from '../kit/clock.ts';
import type { PayoutSchedule } from '../merchants/merchant.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** The Monday with which the UTC week of `at` begins. */
export function weekOf(at: Date): string {
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  return utcDay(addMs(at, -daysSinceMonday * dayMs));
}

/** The period that `at` is in, named by its first day; by hand it is a day. */
export function periodOf(schedule: PayoutSchedule, at: Date): string {
  return schedule === 'weekly' ? weekOf(at) : utcDay(at);
}
