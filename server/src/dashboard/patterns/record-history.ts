import { listAuditEntries } from '../../audit/record-audit.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { listMovementsOfSource } from '../../ledger/history.ts';
import { foreignText } from '../../pages/page-text.ts';
import { timeline, type TimelineEntry } from '../../portal/patterns/record-page.ts';
import { listRequestsOfRecord } from '../../request-log/read-requests.ts';
import type { Static } from 'typebox';
import { endpointWithHealthSchema, eventSchema } from '../../webhooks/wire-schemas.ts';
import { actionText } from '../audit/audit-texts.ts';
import type { Visit } from '../visit.ts';
import type { Connector } from '../../networks/contract.ts';
import { accountText } from './account-names.ts';

/** What a record's history is gathered from. */
interface RecordSources {
  /** The record's id, as the audit log has it. */
  id: string;
  /** The objects of its events; the record itself unless several belong to it. */
  objectIds?: readonly string[];
  /** What its movements in the ledger are booked for. */
  movedBy?: readonly MovementSource[];
  /** Of the sub-accounts in its movements. */
  names?: ReadonlyMap<string, string>;
  /** What only this kind of record has. */
  own?: readonly TimelineEntry[];
  /** Of a record whose creation nothing else says. */
  createdAt?: Date;
}

/** With the network that moved the money: an account may serve several. */
interface MovementSource {
  type: string;
  id: string;
  network: string;
}

type ShownEvent = Static<typeof eventSchema>;

/** What happened to a record: its own history, API calls, people's actions, movements, and deliveries of its events. */
export async function recordHistory(visit: Visit, record: RecordSources): Promise<Html> {
  const { id, objectIds = [id], movedBy = [], names = new Map<string, string>(), own = [], createdAt } = record;
  const events = await eventsOf(visit, objectIds);
  const entries = [
    ...own,
    ...(createdAt ? [{ at: createdAt, text: 'Created.' }] : []),
    ...(await callEntries(visit, { objectIds, events })),
    ...(await peopleEntries(visit, id)),
    ...(await movementEntries(visit, movedBy, names)),
    ...(await deliveryEntries(visit, events)),
  ];
  const sorted = entries.toSorted((left, right) => left.at.getTime() - right.at.getTime());
  return timeline(visit, sorted, { below: requestsLink(visit, id) });
}

function requestsLink({ base, may }: Visit, id: string): Html {
  return html`${may('requests.read').isAllowed && html`<p><a href="${base}/requests?record=${id}">All its API calls</a></p>`}`;
}

// More than a record has in ordinary life; the events' own list has all.
const eventsMax = 25;
const endpointsMax = 100;
const entriesMax = 25;

async function eventsOf({ api, may }: Visit, objectIds: readonly string[]): Promise<ShownEvent[]> {
  if (!may('requests.read').isAllowed) return [];
  const lists = await Promise.all(
    objectIds.map((objectId) =>
      api.list('listEvents', eventSchema, { query: { object_id: objectId, limit: eventsMax } }),
    ),
  );
  return lists.flatMap(({ data }) => data);
}

/**
 * The requests of the API that named it, returned it, or made its events. A process that was killed had not logged its last ones:
 * their events still name them, and so do those that a payer’s page made.
 */
async function callEntries(
  { money, merchant, base, may }: Visit,
  { objectIds, events }: { objectIds: readonly string[]; events: readonly ShownEvent[] },
): Promise<TimelineEntry[]> {
  if (!may('requests.read').isAllowed) return [];
  const requestIds = events.map((event) => event.request_id).filter((requestId) => requestId !== null);
  const calls = await listRequestsOfRecord(money.db, merchant.id, { objectIds, requestIds });
  const logged = new Set(calls.map(({ requestId }) => requestId));
  const others = events.filter(({ request_id: id, deliveries }) => {
    return id !== null && !logged.has(id) && deliveries.length === 0;
  });
  return [
    ...calls.map(({ id, createdAt, method, path, statusCode, requestId }) => ({
      at: createdAt,
      text: html`API call: <a href="${base}/requests/${id}">${method} ${foreignText(path)}</a>, status ${statusCode}`,
      technical: html`request <code>${requestId}</code>`,
    })),
    ...others.map((event) => ({
      at: new Date(event.created_at),
      technical: html`<a href="${base}/events/${event.id}">${event.event}</a> ${causeOf(event)}`,
    })),
  ];
}

function causeOf({ id, request_id: requestId }: ShownEvent): Html {
  return html`<code>${id}</code>${requestId !== null && html`, caused by request <code>${requestId}</code>`}`;
}

/** Who did what to it in the dashboard. */
async function peopleEntries(
  { api, money, merchant, may, testMode }: Visit,
  objectId: string,
): Promise<TimelineEntry[]> {
  if (!may('records.read').isAllowed) return [];
  const page = { limit: entriesMax, offset: 0, before: null };
  const { rows } = await listAuditEntries(money.lists, merchant.businessId, page, { objectId, testMode });
  return rows.map(({ createdAt, actorName, action, requestId }) => ({
    at: createdAt,
    text: html`${foreignText(actorName)}: ${actionText(api, action)}`,
    ...(requestId !== null && { technical: html`request <code>${requestId}</code>` }),
  }));
}

/** One entry for each posting: what is booked together is one step. */
async function movementEntries(
  { money, merchant, testMode }: Visit,
  movedBy: readonly MovementSource[],
  names: ReadonlyMap<string, string>,
): Promise<TimelineEntry[]> {
  const lists = await Promise.all(
    movedBy.map(async ({ network, ...source }) => {
      const movements = await listMovementsOfSource(money.db, { merchantId: merchant.id, source });
      return movements.map((movement) => ({ ...movement, network }));
    }),
  );
  const connectors = money.networks.list(testMode);
  const postings = Map.groupBy(lists.flat(), ({ flow, createdAt }) => `${createdAt.toISOString()} ${flow}`);
  return [...postings.values()].flatMap((movements) => {
    const [first] = movements;
    if (!first) return [];
    const nameOf = (railAccount: string) => nameAt(connectors, { railAccount, network: first.network });
    const parts = movements.map(
      ({ debit, credit, amountMinor }) =>
        `${formatAmount(amountMinor)} from ${accountText(debit, names, nameOf)} to ${accountText(credit, names, nameOf)}`,
    );
    return [{ at: first.createdAt, text: `Booked: ${parts.join('; ')}.`, technical: html`<code>${first.flow}</code>` }];
  });
}

/** The network's name at an account that serves it; of another account, the name of what it serves. */
function nameAt(
  connectors: readonly Connector[],
  { railAccount, network }: { railAccount: string; network: string },
): string | undefined {
  const serving = connectors.filter(({ capabilities }) => capabilities.railAccount === railAccount);
  const found = serving.find(({ capabilities }) => capabilities.network === network) ?? serving[0];
  return found?.capabilities.displayName;
}

function triesText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', 1 try' : `, ${count} tries`;
}

const deliveryTexts: ReadonlyMap<string, string> = new Map([
  ['delivered', 'Delivered'],
  ['pending', 'Trying again'],
  ['failed', 'Given up'],
  ['kept', 'Kept, because the endpoint is off'],
]);

async function deliveryEntries({ api, base }: Visit, events: readonly ShownEvent[]): Promise<TimelineEntry[]> {
  if (events.every(({ deliveries }) => deliveries.length === 0)) return [];
  const endpoints = await api.list('listWebhookEndpoints', endpointWithHealthSchema, {
    query: { limit: endpointsMax },
  });
  const hosts = new Map(endpoints.data.map(({ id, url }) => [id, url === null ? null : new URL(url).host]));
  return events.flatMap((event) =>
    event.deliveries.map((delivery) => ({
      at: new Date(delivery.delivered_at ?? event.created_at),
      text: html`<a href="${base}/events/${event.id}">${event.event}</a> to ${
        delivery.callback_url === null
          ? html`<a href="${base}/endpoints/${delivery.endpoint_id}">${hosts.get(delivery.endpoint_id) ?? 'your endpoint'}</a>`
          : foreignText(delivery.callback_url)
      }: ${deliveryTexts.get(delivery.status) ?? delivery.status}${triesText(delivery.attempts)}`,
      technical: causeOf(event),
    })),
  );
}
