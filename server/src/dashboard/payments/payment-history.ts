import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { listNotices } from '../../notifications/notices-of-payment.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Charge } from '../../payments/charge.ts';
import { findPageViews } from '../../payments/find-payment.ts';
import { timelineSchema } from '../../payments/intent-wire.ts';
import type { TimelineEntry } from '../../portal/patterns/record-page.ts';
import { inDalasi } from '../../portal/patterns/texts.ts';
import { recordHistory } from '../patterns/record-history.ts';
import type { Visit } from '../visit.ts';

/** What happened to a payment: its own timeline, and who was told of it. */
export async function paymentTimeline(
  visit: Visit,
  payment: {
    id: string;
    attempts: readonly Charge[];
    refunds: readonly { id: string; network: string }[];
    names: ReadonlyMap<string, string>;
  },
): Promise<Html> {
  const { id, attempts, refunds, names } = payment;
  const { data } = await visit.api.call('retrievePaymentTimeline', timelineSchema, { params: { id } });
  // What it refunds, its notes say already, with how.
  const own = data
    .filter(({ kind }) => kind !== 'charge.refunded')
    .map(({ at, kind, detail, transaction_id: transactionId }): TimelineEntry => ({
      at: new Date(at),
      text: foreignText(inDalasi(withNames(detail, names))),
      technical: html`<code>${kind}</code>${transactionId !== null && html` <code>${transactionId}</code>`}`,
    }));
  return recordHistory(visit, {
    ...{ id, names, objectIds: [id, ...attempts.map((attempt) => attempt.id)] },
    movedBy: [
      ...attempts.map((attempt) => ({ type: 'charge', id: attempt.id, network: attempt.network })),
      ...refunds.map((refund) => ({ type: 'transfer', id: refund.id, network: refund.network })),
    ],
    own: [...own, ...(await viewEntries(visit, id)), ...(await noticeEntries(visit, attempts))],
  });
}

/** When its page was opened. */
async function viewEntries({ money, merchant }: Visit, id: string): Promise<TimelineEntry[]> {
  const viewed = await findPageViews(money.db, merchant.id, id);
  if (!viewed) return [];
  const { views, firstViewedAt, lastViewedAt } = viewed;
  return [
    { at: firstViewedAt, text: 'The payer’s page was opened.' },
    ...(views > 1n
      ? [
          {
            at: lastViewedAt,
            text: `The payer’s page was opened again; ${views.toLocaleString('en-GB')} times in all.`,
          },
        ]
      : []),
  ];
}

/** The API's sentences name sub-accounts by their ids. */
function withNames(detail: string, names: ReadonlyMap<string, string>): string {
  let text = detail;
  for (const [id, name] of names) text = text.replaceAll(`Sub-account ${id}`, name);
  return text;
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
async function noticeEntries({ money, merchant }: Visit, attempts: readonly Charge[]): Promise<TimelineEntry[]> {
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
