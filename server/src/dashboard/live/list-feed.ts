import { assert } from '../../kit/assert.ts';
import { renderHtml } from '../../kit/html.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { LiveEvent, LiveFeed } from '../dashboard-route.ts';
import { countText, listRow } from '../../portal/patterns/list-page.ts';
import type { ListPage } from '../patterns/list-page.ts';
import type { Visit } from '../visit.ts';

// What changed while the page was being drawn and sent.
const overlapMs = 2_000;

/**
 * The changes of an open list: rows, each as its list draws it, and the count. The browser replaces the rows that it shows and
 * takes newer ones for arrivals, so a row that comes twice does no harm.
 */
export function listFeed<Row extends { id: string }>(
  page: ListPage<Row>,
  visit: Visit,
  query: PageInput['query'],
): LiveFeed {
  const { live, noun } = page;
  assert(live, `the list ${page.path} stays up to date`);
  const since = new Date(query['since'] ?? '');
  const seenAt = new Date((Number.isNaN(since.getTime()) ? visit.now : since).getTime() - overlapMs);
  const { cursor, ...newest } = query;
  const known = new Map<string, string>();
  let knownCount = '';
  return {
    page: page.path,
    topics: [live.topic(visit)],
    async read(current) {
      const events: LiveEvent[] = [];
      const list = await page.read(current, newest);
      const shown = cursor === undefined ? [] : (await page.read(current, query)).rows;
      // Oldest first, as they came.
      for (const row of [...shown, ...list.rows].toReversed()) {
        const markup = renderHtml(listRow(page, current, row));
        const before = known.get(row.id);
        known.set(row.id, markup);
        if (before === markup || (before === undefined && live.changedAt(row) < seenAt)) continue;
        const amount = String(live.amountMinor(row));
        events.push({ name: 'row', data: JSON.stringify({ id: row.id, markup, amount }) });
      }
      // Only what the page may show is remembered.
      for (const id of [...known.keys()].slice(0, -rowsKnownMax)) known.delete(id);
      const count = countText(list, noun);
      if (count !== knownCount) events.push({ name: 'count', data: count });
      knownCount = count;
      return events;
    },
  };
}

const rowsKnownMax = 500;
