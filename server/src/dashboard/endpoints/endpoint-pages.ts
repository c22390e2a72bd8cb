import { listRoutes } from '../patterns/list-page.ts';
import type { Static } from 'typebox';
import { html, type Html } from '../../kit/html.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { isFound, readList } from '../patterns/read-list.ts';
import { foreignText } from '../../pages/page-text.ts';
import { getEndpoint } from '../../webhooks/manage-endpoints.ts';
import { hoursShown, readHourlyAttempts } from '../../webhooks/hourly-attempts.ts';
import { endpointWithHealthSchema, eventSchema } from '../../webhooks/wire-schemas.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, timeInSentence } from '../../portal/patterns/texts.ts';
import { moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { deliveryState } from '../events/delivery-state.ts';
import type { Visit } from '../visit.ts';
import { endpointActions } from './endpoint-actions.ts';
import { endpointName, endpointState, failureText, isOn, loadEndpoint, type ShownEndpoint } from './endpoint-state.ts';
import { healthChart } from './health-chart.ts';
import { signatureCheck } from './signature-check.ts';

// A merchant has at most 20.
const endpointsShown = 100;
const deliveriesShown = 10;

const list = listRoutes<ShownEndpoint>({
  path: '/endpoints',
  action: 'requests.read',
  title: 'Webhook endpoints',
  noun: ['endpoint', 'endpoints'],
  filters: [{ kind: 'search', name: 'term', label: 'Address, description or kind of event' }, ...moreDateFilters],
  async read(visit, query) {
    const [cursor, limit] = [query['cursor'] ?? '', endpointsShown];
    const all = await readList(visit, 'listWebhookEndpoints', endpointWithHealthSchema, { cursor }, { limit });
    const rows = all.rows.filter((row) =>
      isFound(query, { ...row, texts: [row.url, endpointName(row), row.description, ...row.enabled_events] }),
    );
    return { rows, total: rows.length, nextCursor: null };
  },
  exported: {
    needs: 'requests.read',
    columns: exportColumns({
      endpoint_id: ({ id }) => id,
      address: ({ url }) => url,
      description: ({ description }) => description,
      events: ({ enabled_events: kinds }) => kinds.join('; '),
      state: (endpoint) => endpointState(endpoint).text,
      waiting: ({ health }) => String(health.pending),
      failed: ({ health }) => String(health.failed),
      stored: ({ health }) => String(health['kept']),
      last_delivered_at: ({ health }) => health.last_success_at,
      created_at: ({ createdAt }) => createdAt,
    }),
  },
  columns: [
    {
      header: 'Address',
      isMain: true,
      cell: (endpoint) => html`<span class="first">${foreignText(endpointName(endpoint))}</span>
<span class="second">${foreignText(endpoint.description)}</span>`,
    },
    { header: 'Waiting', isNumber: true, cell: ({ health }) => String(health.pending) },
    { header: 'Given up, kept', isNumber: true, cell: ({ health }) => String(health.failed + health['kept']) },
    {
      header: 'Last delivered',
      cell: ({ health }, { now }) =>
        health.last_success_at === null ? 'Never' : shownTime(new Date(health.last_success_at), now),
    },
    { header: 'State', isMain: true, cell: (endpoint) => stateMark(endpointState(endpoint)) },
  ],
  href: ({ id }) => `/endpoints/${id}`,
  first: { href: '/endpoints/new', text: 'New endpoint', needs: 'endpoints.manage' },
  empty: { text: 'No endpoints yet. Your server is notified of payments at an address that you add here.' },
});

const show: DashboardRoute = {
  path: '/endpoints/:id',
  action: 'requests.read',
  async handle(visit, input) {
    const { api, merchant, webhooks } = visit;
    const endpoint = await loadEndpoint(visit, input);
    const { previousSecretExpiresAt } = await getEndpoint(webhooks.db, merchant.id, endpoint.id);
    const hours = await readHourlyAttempts(webhooks, merchant.id, endpoint.id);
    const events = await api.list('listEvents', eventSchema, {
      query: { endpoint_id: endpoint.id, limit: deliveriesShown },
    });
    return {
      title: endpointName(endpoint),
      body: html`${endpointHead(visit, endpoint)}${healthChart(hours.slice(-hoursShown), visit.now)}
<div class="columns">${details(visit, { endpoint, previousSecretExpiresAt })}${deliveries(visit, endpoint, events.data)}</div>
${await recordHistory(visit, { id: endpoint.id, createdAt: new Date(endpoint.createdAt) })}`,
    };
  },
};

function endpointHead(visit: Visit, endpoint: ShownEndpoint): Html {
  const { id, url, health } = endpoint;
  const needs = 'endpoints.manage';
  const missed = health.failed + health['kept'];
  const isReceiving = isOn(endpoint);
  const path = `/endpoints/${id}`;
  return recordHead(visit, {
    heading: foreignText(endpointName(endpoint)),
    state: endpointState(endpoint),
    actions: [
      isReceiving && { href: `${path}/test`, text: 'Send a test event', needs },
      isReceiving && missed > 0 && { href: `${path}/resend`, text: `Send ${missed} again`, needs },
      url !== null && isReceiving && { href: `${path}/pause`, text: 'Pause', needs },
      url !== null && !isReceiving && { href: `${path}/resume`, text: 'Resume', needs },
      { href: `${path}/edit`, text: 'Edit', needs },
      { href: `${path}/rotate`, text: 'Roll secret', needs },
      { href: `${path}/signature`, text: 'Check a signature', needs: 'requests.read' },
      !endpoint.is_default && { href: `${path}/delete`, text: 'Delete', needs, isDanger: true },
    ],
    under: healthInWords(visit, endpoint),
  });
}

function healthInWords({ now }: Visit, { health, url }: ShownEndpoint): Html {
  if (url === null) return html`<p>Its secret signs what is sent to the callback addresses of single payments.</p>`;
  const since = health.failing_since;
  const many = health.counts_are_capped === true ? 'more than ' : '';
  return html`<p>${
    since !== null && html`Failing since ${timeInSentence(new Date(since), now)}: ${failureText(health.last_failure)}. `
  }Waiting ${many}${health.pending}, given up ${health.failed}, kept ${health['kept']}.</p>`;
}

function details(
  { webhooks, now, base }: Visit,
  { endpoint, previousSecretExpiresAt: oldEndsAt }: { endpoint: ShownEndpoint; previousSecretExpiresAt: Date | null },
): Html {
  const { health } = endpoint;
  return html`<section class="panel"><h2>Details</h2>${facts([
    ['Address', endpoint.url && html`<code>${foreignText(endpoint.url)}</code>`],
    ['Description', endpoint.description && foreignText(endpoint.description)],
    ['Last delivered', health.last_success_at === null ? 'Never' : shownTime(new Date(health.last_success_at), now)],
    ['Signed in', html`<code>webhook-signature</code>, <code>${webhooks.signatureHeader}</code>`],
    [
      'Old secret',
      oldEndsAt !== null && oldEndsAt > now
        ? html`Signs too until ${timeInSentence(oldEndsAt, now)}. <a href="${base}/endpoints/${endpoint.id}/end-overlap">End it now</a>`
        : null,
    ],
    ['Created', shownTime(new Date(endpoint.createdAt), now)],
    ['Endpoint id', endpoint.id],
  ])}<h3>Events it gets</h3><ul>${endpoint.enabled_events.map(
    (kind) => html`<li><code>${kind === '*' ? 'all, also future ones' : kind}</code></li>`,
  )}</ul></section>`;
}

function deliveries(
  { base, now, may }: Visit,
  endpoint: ShownEndpoint,
  events: readonly Static<typeof eventSchema>[],
): Html {
  const { id } = endpoint;
  return html`<section class="panel"><h2>Newest deliveries</h2>${
    events.length === 0
      ? html`<p class="count">Nothing was sent to it yet.</p>`
      : html`<ul class="links">${events.map((event) => {
          const delivery = event.deliveries.find((each) => each.endpoint_id === id);
          return html`<li><a href="${base}/events/${event.id}"><span>${shownTime(new Date(event.created_at), now)} <code>${event.event}</code>
${delivery && stateMark(deliveryState(delivery, now))}</span></a></li>`;
        })}</ul>`
  }<p><a href="${base}/events?endpoint=${id}">All its events</a></p>
${isOn(endpoint) && may('endpoints.manage').isAllowed && html`<p><a href="${base}/endpoints/${id}/resend/choose">Send events of a period again</a></p>`}</section>`;
}

// `new` comes before `:id`.
export const endpointPages: readonly DashboardRoute[] = [...list, ...endpointActions, ...signatureCheck, show];
