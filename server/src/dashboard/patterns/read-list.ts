import type { Static, TSchema } from 'typebox';
import { cursorPosition } from '../../api/pagination.ts';
import type { ListResult } from '../../portal/patterns/list-page.ts';
import { pageOf } from '../../portal/patterns/page-of-list.ts';
import { createdRange } from '../../portal/patterns/time-filter.ts';
import type { Visit } from '../visit.ts';

/** One of the API's lists for a page: by the visitor's search, dates and cursor, and the page's own filters. */
export async function readList<Schema extends TSchema>(
  { api }: Visit,
  operationId: string,
  schema: Schema,
  query: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | number | undefined>> = {},
): Promise<ListResult<Static<Schema>>> {
  const { term = '', cursor = '' } = query;
  const { from, to } = createdRange(query);
  const sent = {
    ...(term.trim() !== '' && { term }),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
    ...(cursorPosition(cursor) && { cursor }),
  };
  const { data, meta } = await api.list(operationId, schema, {
    query: { limit: pageOf(query).limit, ...own, ...sent },
  });
  const { total, total_is_capped: isCapped = false, next_cursor: nextCursor } = meta;
  return { rows: data, total, isCapped, nextCursor, hasNewer: cursor !== '' };
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
