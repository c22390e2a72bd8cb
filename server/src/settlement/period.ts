import { addMs, utcDay, dayMs } from '../kit/clock.ts';
import type { PayoutSchedule } from '../merchants/merchant.ts';

/** The Monday of the UTC week of `at`. */
export function weekOf(at: Date): string {
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  return utcDay(addMs(at, -daysSinceMonday * dayMs));
}

/** The period of `at`, named by its first day; with the schedule `manual` it is a day. */
export function periodOf(schedule: PayoutSchedule, at: Date): string {
  return schedule === 'weekly' ? weekOf(at) : utcDay(at);
}
