import { intentTopic } from '../../payments/context.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute, LiveFeed, LiveEvent } from '../dashboard-route.ts';
import { counterFeed } from '../counter-screen/counter-feed.ts';
import { paymentListPage } from '../payments/payment-list.ts';
import { paymentVersion } from '../payments/payment-page.ts';
import { findVisiblePayment } from '../payments/visible-payment.ts';
import type { Visit } from '../visit.ts';
import { assert } from '../../kit/assert.ts';
import { timestampOf } from '../../kit/ids.ts';
import { renderHtml } from '../../kit/html.ts';
import { countText, listRow } from '../../portal/patterns/list-page.ts';
import type { ListPage } from '../patterns/list-page.ts';

// What changed while the page was being drawn and sent.
const overlapMs = 2_000;

/**
 * The changes of an open list: rows, each as its list draws it, and the count. The browser replaces the rows that it shows and
 * takes newer ones for arrivals, so a row that comes twice does no harm.
 */
function listFeed<Row extends { id: string }>(page: ListPage<Row>, visit: Visit, query: PageInput['query']): LiveFeed {
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
        const mayBeShown = cursor === undefined || shown.some(({ id }) => id === row.id);
        // A row of an earlier page counts as new only if it is: also after a reconnect, which knows no row.
        const isArrival = live.changedAt(row) >= seenAt && (mayBeShown || timestampOf(row.id) >= seenAt);
        const isChange = before === undefined ? isArrival : mayBeShown && before !== markup;
        if (!isChange) continue;
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

/** The one event stream of a page: of a list with its filters, of a payment, or of a counter's screen. */
export const stream: DashboardRoute = {
  path: '/stream',
  action: 'payments.read',
  async handle(visit, { query }) {
    const { counter, payment } = query;
    if (counter !== undefined) return { live: await counterFeed(visit, counter) };
    if (payment !== undefined) return { live: await paymentFeed(visit, payment, query) };
    return { live: listFeed(paymentListPage, visit, query) };
  },
};

/** Says when the page of a payment has to be read again. Throws AppError `not_found`. */
async function paymentFeed(visit: Visit, id: string, query: PageInput['query']): Promise<LiveFeed> {
  const input = { params: { id }, query };
  await findVisiblePayment(visit, input);
  let known = query['version'];
  return {
    page: `/payments/${id}`,
    topics: [intentTopic(id)],
    async read(current) {
      const next = paymentVersion(current, await findVisiblePayment(current, input));
      if (next === known) return [];
      known = next;
      return [{ name: 'changed', data: next }];
    },
  };
}
