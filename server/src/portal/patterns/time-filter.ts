import type { TimeFilter } from '../../api/list-filter.ts';
import { readTimeRange } from '../../api/time-range.ts';
import { isTimeOrDay } from '../../kit/time-or-day.ts';
import type { Filter } from './list-page.ts';

/** The two date fields of a list, as `createdRange` reads them. */
export const dateFilters = [
  { kind: 'date', name: 'from', label: 'From' },
  { kind: 'date', name: 'to', label: 'To' },
] as const satisfies readonly Filter[];

/** The same, folded away until they are used. */
export const moreDateFilters = dateFilters.map((filter) => ({ ...filter, isMore: true }));

/** The range of a list's two date fields; what is no day is no bound, as an emptied field. */
export function createdRange(query: Readonly<Record<string, string>>): TimeFilter {
  const bound = (text: string | undefined) => (text !== undefined && isTimeOrDay(text) ? text : undefined);
  return readTimeRange({ from: bound(query['from']), to: bound(query['to']) });
}
