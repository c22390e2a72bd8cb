import type { TimeFilter } from '../../api/list-filter.ts';
import { readTimeRange } from '../../api/time-range.ts';
import { isTimeOrDay } from '../../kit/time-or-day.ts';

/** The range of a list's two date fields; what is no day is no bound, as an emptied field. */
export function createdRange(query: Readonly<Record<string, string>>): TimeFilter {
  const bound = (text: string | undefined) => (text !== undefined && isTimeOrDay(text) ? text : undefined);
  return readTimeRange({ from: bound(query['from']), to: bound(query['to']) });
}
