import { addMs, dayMs } from './clock.ts';

// A day is a UTC day: Africa/Banjul is on UTC all year.

const timeForm = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const dayForm = /^\d{4}-\d\d-\d\d$/;

/** Whether it is an ISO 8601 time with its zone, of a day that exists. */
export function isTime(text: string): boolean {
  return timeForm.test(text) && isCalendarDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

/** Whether it is a date alone, of a day that exists: `2026-11-20`. */
export function isDay(text: string): boolean {
  return dayForm.test(text) && isCalendarDay(text);
}

/** Whether it is either. */
export function isTimeOrDay(text: string): boolean {
  return isDay(text) || isTime(text);
}

/** The time itself, or the beginning of the day. */
export function firstMoment(timeOrDay: string): Date {
  // JavaScript reads a date alone as midnight UTC.
  return new Date(timeOrDay);
}

/** The time itself, or the last millisecond of the day. */
export function lastMoment(timeOrDay: string): Date {
  return dayForm.test(timeOrDay) ? addMs(endBefore(timeOrDay), -1) : new Date(timeOrDay);
}

/** The exclusive end: the time itself, or the beginning of the next day. */
export function endBefore(timeOrDay: string): Date {
  const first = firstMoment(timeOrDay);
  return dayForm.test(timeOrDay) ? addMs(first, dayMs) : first;
}

/** 30 February becomes 2 March when it is read. */
function isCalendarDay(day: string): boolean {
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}
