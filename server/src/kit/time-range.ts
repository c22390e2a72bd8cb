import Type from 'typebox';
import { addMs } from './clock.ts';

// A day is a UTC day, which is the Gambian one: Africa/Banjul keeps UTC all year.

/** The schemas' format of a time, or of a day without one. */
export const timeOrDayFormat = 'date-or-date-time';

const dayMs = 24 * 60 * 60_000;
const daySaid = /^\d{4}-\d\d-\d\d$/;

/** Query parameters for what happened between two moments; `what` is a word such as `Created`. */
export const timeRange = (what: string) => ({
  from: Type.Optional(timeOrDayType(`${what} at or after. A date alone means from the beginning of that day, UTC.`)),
  to: Type.Optional(timeOrDayType(`${what} at or before. A date alone includes that whole day, UTC.`)),
});

export const timeOrDayType = (description: string) =>
  Type.String({ format: timeOrDayFormat, description, examples: ['2026-11-20', '2026-11-20T10:18:00.000Z'] });

/** From the first to the last millisecond that was asked for; absent is no bound. */
export function readTimeRange({ from, to }: { from?: string; to?: string }): { from?: Date; to?: Date } {
  return {
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: isDay(to) ? addMs(dayAfter(to), -1) : new Date(to) }),
  };
}

/** The first moment that is no longer meant: the time itself, or the end of the day. */
export function readEndBefore(to: string): Date {
  return isDay(to) ? dayAfter(to) : new Date(to);
}

/** Whether it is a date alone. */
export function isDay(text: string): boolean {
  return daySaid.test(text);
}

/** JavaScript reads a date alone as midnight UTC. */
function dayAfter(day: string): Date {
  return addMs(new Date(day), dayMs);
}
