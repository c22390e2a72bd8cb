import { cursorPosition } from '../../api/pagination.ts';
import type { ApiCall, ListPage } from '../../http/in-process-api.ts';
import type { ListResult } from '../../portal/patterns/list-page.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import { createdRange } from '../../portal/patterns/time-filter.ts';
import type { Visit } from '../visit.ts';

/** The call of one of the API's lists for a page: the visitor's search, dates and cursor, and the page's own filters. */
export function listCall(
  { caller, requestId }: Visit,
  query: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | number | undefined>> = {},
): ApiCall {
  const { term = '', cursor = '' } = query;
  const { from, to } = createdRange(query);
  const sent = {
    ...(term.trim() !== '' && { term }),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
    ...(cursorPosition(cursor) && { cursor }),
  };
  return { caller, requestId, query: { limit: pageOf(query).limit, ...own, ...sent } };
}

/** Whether a search and dates find a record of a short list, which is read whole. */
export function isFound(
  query: Readonly<Record<string, string>>,
  { texts, createdAt }: { texts: readonly (string | null)[]; createdAt: string },
): boolean {
  const { from, to } = createdRange(query);
  const term = (query['term'] ?? '').trim().toLowerCase();
  const at = new Date(createdAt);
  return (!from || at >= from) && (!to || at <= to) && texts.some((text) => text?.toLowerCase().includes(term));
}

/** What a list shows of the API's answer to such a call. */
export function listResult<Row>(
  { meta }: Pick<ListPage<never>, 'meta'>,
  rows: readonly Row[],
  { cursor = '' }: Readonly<Record<string, string>>,
): ListResult<Row> {
  const { total, total_is_capped: isCapped = false, next_cursor: nextCursor } = meta;
  return { rows, total, isCapped, nextCursor, hasNewer: cursor !== '' };
}
