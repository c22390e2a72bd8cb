import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { listMovementsOfSource } from '../../ledger/history.ts';
import { listNotices } from '../../notifications/notices-of-payment.ts';
import { foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../payments/connector-of.ts';
import type { Charge } from '../../payments/charge.ts';
import { timelineSchema } from '../../payments/intent-wire.ts';
import { endpointWithHealthSchema, eventSchema } from '../../webhooks/wire-schemas.ts';
import { accountText } from '../patterns/account-names.ts';
import { timeline } from '../../portal/patterns/record-page.ts';
import type { TimelineEntry } from '../../portal/patterns/record-page.ts';
import type { DashboardServices } from '../services.ts';
import type { Visit } from '../visit.ts';

/** What happened to a payment: its own timeline, and who was told of it. */
export async function paymentTimeline(
  services: DashboardServices,
  visit: Visit,
  payment: { id: string; attempts: readonly Charge[]; names: ReadonlyMap<string, string> },
): Promise<Html> {
  const { caller, requestId } = visit;
  const { id, attempts, names } = payment;
  const call = { caller, requestId, params: { id } };
  const { data } = await services.api.call('retrievePaymentTimeline', timelineSchema, call);
  // What it refunds, its notes say already, with how.
  const own = data
    .filter(({ kind }) => kind !== 'charge.refunded')
    .map(({ at, kind, detail, transaction_id: transactionId }): TimelineEntry => ({
      at: new Date(at),
      text: foreignText(withNames(detail, names)),
      technical: html`<code>${kind}</code>${transactionId !== null && html` <code>${transactionId}</code>`}`,
    }));
  const notified = [
    ...(await deliveryEntries(services, visit, [id, ...attempts.map((attempt) => attempt.id)])),
    ...(await noticeEntries(services, visit, attempts)),
  ];
  return timeline(
    visit,
    [...own, ...notified].toSorted((left, right) => left.at.getTime() - right.at.getTime()),
  );
}

/** The API's sentences name sub-accounts by their ids. */
function withNames(detail: string, names: ReadonlyMap<string, string>): string {
  let text = detail;
  for (const [id, name] of names) text = text.replaceAll(`Sub-account ${id}`, name);
  return text;
}

const eventsMax = 25;
const endpointsMax = 100;

const deliveryTexts: ReadonlyMap<string, string> = new Map([
  ['delivered', 'Delivered'],
  ['pending', 'Trying again'],
  ['failed', 'Given up'],
  ['kept', 'Kept, because the endpoint is off'],
]);

async function deliveryEntries(
  { api }: DashboardServices,
  { caller, requestId, may, base }: Visit,
  objectIds: readonly string[],
): Promise<TimelineEntry[]> {
  if (!may('requests.read').isAllowed) return [];
  const lists = await Promise.all(
    objectIds.map((objectId) =>
      api.list('listEvents', eventSchema, { caller, requestId, query: { object_id: objectId, limit: eventsMax } }),
    ),
  );
  const endpoints = await api.list('listWebhookEndpoints', endpointWithHealthSchema, {
    ...{ caller, requestId, query: { limit: endpointsMax } },
  });
  const hosts = new Map(endpoints.data.map(({ id, url }) => [id, url === null ? null : new URL(url).host]));
  return lists
    .flatMap(({ data }) => data)
    .flatMap((event) =>
      event.deliveries.map((delivery) => ({
        at: new Date(delivery.delivered_at ?? event.created_at),
        text: html`<a href="${base}/events/${event.id}">${event.event}</a> to ${
          delivery.callback_url === null
            ? html`<a href="${base}/endpoints/${delivery.endpoint_id}">${hosts.get(delivery.endpoint_id) ?? 'your endpoint'}</a>`
            : foreignText(delivery.callback_url)
        }: ${deliveryTexts.get(delivery.status) ?? delivery.status}, ${delivery.attempts} ${
          delivery.attempts === 1 ? 'try' : 'tries'
        }`,
        technical: html`<code>${event.id}</code>${event.request_id !== null && html` request <code>${event.request_id}</code>`}`,
      })),
    );
}

const noticeTexts: Readonly<Record<string, string>> = {
  pending: 'waits to be sent',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'not delivered',
  dropped: 'not sent',
};

/** Messages to the counter's staff; they are sent once the payment is paid. */
async function noticeEntries(
  { money }: DashboardServices,
  { merchant }: Visit,
  attempts: readonly Charge[],
): Promise<TimelineEntry[]> {
  const paid = attempts.filter((attempt) => attempt.paidAt !== null);
  const notices = await Promise.all(
    paid.map(async ({ id, paidAt, updatedAt }) =>
      (await listNotices(money.db, merchant.id, id)).map((notice) => ({ notice, at: paidAt ?? updatedAt })),
    ),
  );
  return notices.flat().map(({ notice, at }) => ({
    at,
    text: html`Chat message to ${maskPhoneNumber(notice.number)}: ${noticeTexts[notice.status] ?? notice.status}`,
  }));
}

/** The movements of the attempts, folded away: accountants and developers read them. */
export async function movementTable(
  { money }: DashboardServices,
  { merchant, testMode }: Visit,
  { attempts, names }: { attempts: readonly Charge[]; names: ReadonlyMap<string, string> },
): Promise<Html> {
  const lists = await Promise.all(
    attempts.map(({ id }) =>
      listMovementsOfSource(money.db, { merchantId: merchant.id, source: { type: 'charge', id } }),
    ),
  );
  const movements = lists.flat();
  if (movements.length === 0) return html``;
  const nameOf = (network: string) => networkName(money.networks, network, testMode);
  return html`<details><summary>Movements in the ledger</summary><dl class="facts">${movements.map(
    ({ debit, credit, amountMinor }) =>
      html`<div><dt>${accountText(debit, names, nameOf)} to ${accountText(credit, names, nameOf)}</dt><dd>${formatAmount(amountMinor)}</dd></div>`,
  )}</dl></details>`;
}
