import { fieldError } from '../api/app-error.ts';
import { firstMoment, isDay } from '../kit/time-or-day.ts';
import type { PayoutSchedule } from '../merchants/merchant.ts';
import { periodOf } from './period.ts';
import { oldestRetainedPeriod } from './purge-periods.ts';

/**
 * The period of the day that somebody named, else today's: the merchant's own, so that what its schedule has paid out is not
 * paid out again. Throws AppError `invalid_request` on `period`.
 */
export function choosePeriod(schedule: PayoutSchedule, { day, now }: { day: string | undefined; now: Date }): string {
  if (day !== undefined && !isDay(day)) throw wrong(`The period is a day such as 2026-11-20, not ${day}.`);
  const chosen = day === undefined ? now : firstMoment(day);
  if (chosen > now) throw wrong(`The period ${day} has not begun.`);
  const period = periodOf(schedule, chosen);
  const oldest = oldestRetainedPeriod(now);
  if (period < oldest) throw wrong(`Periods before ${oldest} are deleted. Choose a later one.`);
  return period;
}

function wrong(message: string) {
  return fieldError('invalid_request', 'period', message);
}
