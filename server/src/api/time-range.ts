import Type from 'typebox';
import type { TimeFilter } from './list-filter.ts';
import { firstMoment, lastMoment } from '../kit/time-or-day.ts';

/** The format, in schemas, of a time or a date alone. */
export const timeOrDayFormat = 'date-or-date-time';

/** The query parameters `from` and `to`; `what` is a word such as `Created`. */
export const timeRange = (what: string) => ({
  from: Type.Optional(timeOrDayType(`${what} at or after. A date alone means from the beginning of that day, UTC.`)),
  to: Type.Optional(timeOrDayType(`${what} at or before. A date alone includes that whole day, UTC.`)),
});

export const timeOrDayType = (description: string) =>
  Type.String({ format: timeOrDayFormat, description, examples: ['2026-11-20', '2026-11-20T10:18:00.000Z'] });

/** The first and the last millisecond of the range; absent is no bound. */
export function readTimeRange({ from, to }: { from?: string | undefined; to?: string | undefined }): TimeFilter {
  return {
    from: from === undefined ? undefined : firstMoment(from),
    to: to === undefined ? undefined : lastMoment(to),
  };
}
