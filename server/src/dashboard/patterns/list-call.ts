import { cursorPosition } from '../../api/pagination.ts';
import type { ApiCall, ListPage } from '../../http/in-process-api.ts';
import type { ListResult } from '../../portal/patterns/list-page.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import type { Visit } from '../visit.ts';

/** The call of one of the API's lists for a page: the visitor's search and cursor, and the page's own filters. */
export function listCall(
  { caller, requestId }: Visit,
  query: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | number | undefined>> = {},
): ApiCall {
  const { term = '', cursor = '' } = query;
  const sent = { ...(term.trim() !== '' && { term }), ...(cursorPosition(cursor) && { cursor }) };
  return { caller, requestId, query: { limit: pageOf(query).limit, ...own, ...sent } };
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
