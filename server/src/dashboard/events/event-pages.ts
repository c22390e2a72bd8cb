import type { Static } from 'typebox';
import { listRoutes } from '../patterns/list-page.ts';
import { eventKinds } from '../../events/kinds.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findChargeByName } from '../../payments/find-payment.ts';
import { findTransferByReference } from '../../transfers/find-transfer.ts';
import { eventSchema, eventWithTriesSchema } from '../../webhooks/wire-schemas.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { nameAndTime } from '../../portal/patterns/list-columns.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { act } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { readList } from '../patterns/read-list.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, type StateMark } from '../../portal/patterns/texts.ts';
import { dateFilters } from '../../portal/patterns/time-filter.ts';
import { prettyJson } from '../requests/pretty-json.ts';
import type { Endpoint } from '../../webhooks/endpoint.ts';
import { listEndpoints } from '../../webhooks/manage-endpoints.ts';
import { endpointName, failureText } from '../endpoints/endpoint-state.ts';
import type { Visit } from '../visit.ts';
import { deliveryState } from './delivery-state.ts';

type ShownEvent = Static<typeof eventSchema>;
type EventWithTries = Static<typeof eventWithTriesSchema>;

const states = [
  { value: 'delivered', text: 'Delivered' },
  { value: 'pending', text: 'Trying again' },
  { value: 'failed', text: 'Given up' },
  { value: 'kept', text: 'Kept' },
] as const;

const lists = listRoutes<ShownEvent>({
  path: '/events',
  action: 'requests.read',
  title: 'Events',
  noun: ['event', 'events'],
  filters: [
    { kind: 'search', name: 'term', label: 'Id or reference of a record' },
    ...dateFilters,
    { kind: 'select', name: 'kind', label: 'Kind', options: eventKinds.map((value) => ({ value, text: value })) },
    { kind: 'select', name: 'state', label: 'State', options: states },
    { kind: 'given', name: 'endpoint', label: 'Only of one endpoint' },
  ],
  async read(visit, query) {
    const objectId = await objectIdOf(visit, (query['term'] ?? '').trim());
    if (objectId === null) return { rows: [], total: 0, nextCursor: null };
    const endpointId = query['endpoint'] ?? '';
    const own = {
      object_id: objectId === '' ? undefined : objectId,
      event: eventKinds.find((kind) => kind === query['kind']),
      status: states.find(({ value }) => value === query['state'])?.value,
      endpoint_id: isUuid(endpointId) ? endpointId : undefined,
    };
    return readList(visit, 'listEvents', eventSchema, { ...query, term: '' }, own);
  },
  exported: {
    needs: 'requests.read',
    columns: exportColumns({
      created_at: ({ created_at: at }) => at,
      event_id: ({ id }) => id,
      kind: ({ event }) => event,
      record_id: ({ object_id: id }) => id,
      number: ({ sequence }) => String(sequence),
      tries: (row) => String(triesOf(row)),
      state: (row, { now }) => eventMark(row, now).text,
      caused_by_request: ({ request_id: id }) => id,
    }),
  },
  columns: [
    ...nameAndTime<ShownEvent>('Kind', kindText, ({ created_at: at }) => new Date(at)),
    { header: 'Record', cell: ({ object_id: id }) => html`<code>${id}</code>` },
    {
      header: 'Tries',
      isNumber: true,
      cell: (row) => String(triesOf(row)),
    },
    { header: 'State', isMain: true, cell: (row, { now }) => stateMark(eventMark(row, now)) },
  ],
  href: ({ id }) => `/events/${id}`,
  empty: { text: 'No events yet. Each payment, transfer and customer makes some.' },
});

/** The object of the events that a search is for: empty for all, null for what nothing is called. */
async function objectIdOf({ money: { db }, merchant }: Visit, term: string): Promise<string | null> {
  if (term === '' || isUuid(term)) return term;
  const charge = await findChargeByName(db, merchant.id, term);
  return (charge ?? (await findTransferByReference(db, merchant.id, term)))?.id ?? null;
}

/** The state of the delivery that somebody has to look at, before those that went well. */
function eventMark({ deliveries }: ShownEvent, now: Date): StateMark {
  const worst = ['failed', 'kept', 'pending', 'delivered'].flatMap((status) =>
    deliveries.filter((each) => each.status === status),
  )[0];
  return worst ? deliveryState(worst, now) : { tone: 'calm', icon: 'cross', text: 'Sent nowhere' };
}

/** A kind that breaks after its dots, where the screen is narrow. */
function kindText({ event }: ShownEvent): Html {
  return html`<code>${event.split(/(?<=[._])/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</code>`;
}

function triesOf({ deliveries }: ShownEvent): number {
  return deliveries.reduce((sum, { attempts }) => sum + attempts, 0);
}

function loadEvent({ api }: Visit, { params }: PageInput): Promise<EventWithTries> {
  return api.call('retrieveEvent', eventWithTriesSchema, { params: { id: params['id'] ?? '' } });
}

// More than a merchant can have.
const allEndpoints = { limit: 100, offset: 0, before: null };

const show: DashboardRoute = {
  path: '/events/:id',
  action: 'requests.read',
  async handle(visit, input) {
    const event = await loadEvent(visit, input);
    const { base, now, merchant } = visit;
    const { rows: endpoints } = await listEndpoints(visit.money.db, merchant.id, allEndpoints);
    const { deliveries, object_id: objectId, request_id: requestId, ...sent } = event;
    return {
      title: event.event,
      body: html`${recordHead(visit, {
        heading: html`<code>${event.event}</code>`,
        state: null,
        actions: [{ href: `/events/${event.id}/resend`, text: 'Send again', needs: 'endpoints.manage' }],
      })}
<section class="panel"><h2>Details</h2>${facts([
        ['Time', shownTime(new Date(event.created_at), now)],
        ['Event id', event.id],
        ['Record', html`<a href="${base}/search?q=${objectId}">${objectId}</a>`],
        [
          'Number among the record’s events',
          html`${event.sequence}, <a href="${base}/events?term=${objectId}">all of them</a>`,
        ],
        ['Caused by', requestId && html`<a href="${base}/requests/by-id/${requestId}">${requestId}</a>`],
      ])}</section>
${deliveries.length === 0 && html`<section class="empty"><p>No endpoint subscribed to it, so it was sent nowhere.</p></section>`}
${deliveries.map((delivery) => deliveryPanel(visit, { event, delivery, endpoints }))}
<section class="panel"><h2>Body</h2>${prettyJson(JSON.stringify({ ...sent, request_id: requestId }), 'Body of the event')}</section>`,
    };
  },
};

function deliveryPanel(
  { webhooks, base, now }: Visit,
  {
    event: { id },
    delivery,
    endpoints,
  }: { event: EventWithTries; delivery: EventWithTries['deliveries'][number]; endpoints: readonly Endpoint[] },
): Html {
  const { callback_url: callbackUrl, endpoint_id: endpointId } = delivery;
  const endpoint = endpoints.find((each) => each.id === endpointId);
  const state = deliveryState(delivery, now);
  const name = endpoint
    ? html`<a href="${base}/endpoints/${endpointId}">${foreignText(endpointName(endpoint))}</a>`
    : 'a deleted endpoint';
  return html`<section class="panel"><h2>To ${callbackUrl === null ? name : foreignText(callbackUrl)} ${stateMark(state)}</h2>
${delivery.tries.length === 0 && html`<p class="count">No try is on record. Tries are kept for 30 days.</p>`}
<ol class="timeline">${delivery.tries.map((each) => {
    const sentAt = new Date(each.sent_at);
    return html`<li>${shownTime(sentAt, now)}<div>Try ${each.attempt}: ${failureText(
      each.failure ?? String(each.status),
    )}, ${each.duration_ms} ms<details><summary>Request and response</summary>
<p>Sent with the body below and these headers. Signatures are made for each try and not kept.</p>
<pre class="json" tabindex="0" role="region" aria-label="Headers of try ${each.attempt}">content-type: application/json
webhook-id: ${id}
webhook-timestamp: ${Math.floor(sentAt.getTime() / 1_000)}
webhook-signature: v1,…
${webhooks.signatureHeader}: …</pre>
${each['answer'] === '' ? html`<p>The response had no body.</p>` : html`<p>The response began:</p>${prettyJson(each['answer'], `Response to try ${each.attempt}`)}`}</details></div></li>`;
  })}</ol></section>`;
}

const resend = formRoutes<EventWithTries>({
  path: '/events/:id/resend',
  action: 'endpoints.manage',
  load: loadEvent,
  view: (event) => ({
    heading: 'Send this event again?',
    effect: html`<p><code>${event.event}</code>, ${event.id}</p>
<p>It is sent now, once to each address that gets it, and tried again if that fails. A server that has seen it knows it by its id.</p>`,
    button: 'Send again',
    back: { href: `/events/${event.id}`, text: 'Back to the event' },
  }),
  async submit(visit, { subject: { id }, formId }) {
    await act(visit, {
      ...{ operationId: 'resendEvent', schema: eventWithTriesSchema, params: { id }, body: {}, formId },
      object: { type: 'event', id },
    });
  },
});

export const eventPages: readonly DashboardRoute[] = [...lists, show, ...resend];
