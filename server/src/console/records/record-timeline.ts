import type { JsonRecord } from '../../events/kinds.ts';
import { html, type Html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { paymentTimeline } from '../../payments/timeline.ts';
import { timeline, type TimelineEntry } from '../../portal/patterns/record-page.ts';
import { transferTimeline } from '../../transfers/timeline.ts';
import { listEvents } from '../../webhooks/list-events.ts';
import type { ConsoleVisit } from '../visit.ts';
import type { LoadedRecord } from './load-record.ts';

const eventsMax = 25;

const deliveryTexts: ReadonlyMap<string, string> = new Map([
  ['delivered', 'delivered'],
  ['pending', 'trying again'],
  ['failed', 'given up'],
  ['kept', 'kept, because the endpoint is off'],
]);

/** What happened to a record, and which webhooks told its merchant, without what they held. */
export async function recordTimeline(visit: ConsoleVisit, record: LoadedRecord): Promise<Html> {
  const entries = [...(await ownEntries(visit, record)), ...(await deliveryEntries(visit, record))];
  return timeline(
    visit,
    entries.toSorted((left, right) => left.at.getTime() - right.at.getTime()),
  );
}

async function ownEntries({ money }: ConsoleVisit, { of }: LoadedRecord): Promise<TimelineEntry[]> {
  const data =
    of.kind === 'payment'
      ? await paymentTimeline(money, of.payment.intent)
      : await transferTimeline(money.db, of.transfer);
  return data.map(({ at, kind, detail, transaction_id: transactionId }: JsonRecord) => ({
    at: new Date(String(at)),
    text: foreignText(String(detail)),
    technical: html`<code>${String(kind)}</code>${typeof transactionId === 'string' && html` <code>${transactionId}</code>`}`,
  }));
}

async function deliveryEntries(
  { webhooks }: ConsoleVisit,
  { of, id, merchant }: LoadedRecord,
): Promise<TimelineEntry[]> {
  const objectIds = of.kind === 'payment' ? [id, ...of.attempts.map((attempt) => attempt.id)] : [id];
  const entries: TimelineEntry[] = [];
  for (const objectId of objectIds) {
    const page = { limit: eventsMax, offset: 0, before: null };
    const { rows } = await listEvents(webhooks, merchant.id, page, { objectId });
    for (const { event, deliveries } of rows) {
      entries.push(
        ...deliveries.map((delivery) => ({
          at: delivery.deliveredAt ?? event.createdAt,
          text: html`Webhook <code>${event.kind}</code>: ${deliveryTexts.get(delivery.status) ?? delivery.status}, ${delivery.attempts} ${delivery.attempts === 1n ? 'try' : 'tries'}`,
          technical: html`<code>${event.id}</code>`,
        })),
      );
    }
  }
  return entries;
}
