import { listCasesOfSubject } from '../../cases/list-cases.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { listMovementsOfSource } from '../../ledger/history.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { isPaid, receivedMinor } from '../../payments/charge.ts';
import { networkName } from '../../networks/known-networks.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, timeInSentence } from '../../portal/patterns/texts.ts';
import { attemptList } from '../../portal/records/attempt-list.ts';
import { listRefundsOfCharge } from '../../refunds/find-refund.ts';
import { findRecord } from '../../reports/find-records.ts';
import { kindTexts } from '../cases/case-list.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { loadRecord, notFound, type LoadedRecord } from './load-record.ts';
import { recordTimeline } from './record-timeline.ts';

/** A payment, transfer or refund of any merchant. Operators see it; nobody acts as a merchant. */
export const recordPage: ConsoleRoute = {
  path: '/records/:id',
  action: 'records.read',
  async handle(visit, { params }) {
    const id = params['id'] ?? '';
    const found = isUuid(id) ? await findRecord(visit.money.db, visit.environment === 'test', id) : undefined;
    if (!found) throw notFound();
    const record = await loadRecord(visit, found);
    const { merchant, name, amountMinor, state, createdAt } = record;
    const body = html`${recordHead(visit, {
      heading: formatAmount(amountMinor),
      state,
      actions: [],
      under: html`<p>${name} of <a href="/operator/businesses/${merchant.businessId}">${foreignText(merchant.name)}</a>, ${timeInSentence(createdAt, visit.now)}</p>`,
    })}
<div class="columns">${await details(visit, record)}${await money(visit, record)}</div>
${await related(visit, record)}
${await recordTimeline(visit, record)}`;
    return { title: `${name} of ${formatAmount(amountMinor)}`, body };
  },
};

async function details({ now, base }: ConsoleVisit, record: LoadedRecord): Promise<Html> {
  const { of } = record;
  const nameOf = (network: string): string => networkName(network);
  if (of.kind === 'payment') {
    const { intent, charge } = of.payment;
    return html`<section class="panel"><h2>Details</h2>${facts([
      ['For', intent.title === null ? null : foreignText(intent.title)],
      ['Reference', charge && copyable(charge.transactionReference)],
      ['Network', charge && nameOf(charge.network)],
      ['Payer', charge && maskPhoneNumber(charge.accountNumber ?? '')],
      ['Network’s transaction', charge?.networkTransactionId],
      ['Our reference at the network', charge?.reference],
      ['Paid', charge?.paidAt && shownTime(charge.paidAt, now)],
      ['Can be paid until', shownTime(intent.expiresAt, now)],
      ['Payment id', intent.id],
    ])}</section><section class="panel"><h2>Tries</h2>${attemptList({ now }, of.attempts)}</section>`;
  }
  const { transfer } = of;
  const refunded = of.kind === 'refund' ? of.refund : null;
  return html`<section class="panel"><h2>Details</h2>${facts([
    [
      'Of the payment',
      refunded && html`<a href="${base}/records/${refunded.intentId}">${refunded.transactionReference}</a>`,
    ],
    ['To', transfer.beneficiaryName && foreignText(cleanText(transfer.beneficiaryName))],
    ['Network', nameOf(transfer.network)],
    ['Number', maskPhoneNumber(transfer.accountNumber)],
    ['Reference', copyable(transfer.reference)],
    ['Network’s transaction', transfer.networkTransactionId],
    ['Sent to the network', transfer.sends === 0n ? 'Not yet' : `${transfer.sends} times, last`],
    ['Last sent', transfer.sentAt && shownTime(transfer.sentAt, now)],
    ['Why it failed', transfer.failureReason],
    ['Ended', transfer.completedAt && shownTime(transfer.completedAt, now)],
    ['Id', transfer.id],
  ])}</section>`;
}

/** What it moved in the ledger, by account; the ledger explains each of them. */
async function money({ money: { db } }: ConsoleVisit, { merchant, of, id }: LoadedRecord): Promise<Html> {
  const sources =
    of.kind === 'payment'
      ? of.attempts.map((attempt) => ({ type: 'charge', id: attempt.id }))
      : [{ type: 'transfer', id }];
  const movements = [];
  for (const source of sources)
    movements.push(...(await listMovementsOfSource(db, { merchantId: merchant.id, source })));
  const charge = of.kind === 'payment' ? of.payment.charge : undefined;
  const explain = (account: string): Html =>
    html`<a href="/operator/${merchant.testMode ? 'test' : 'live'}/ledger/explain?merchant=${merchant.id}&account=${encodeURIComponent(account)}"><code>${account}</code></a>`;
  return html`<section class="panel"><h2>Money</h2>${facts([
    ['Payer paid', charge && isPaid(charge) ? formatAmount(receivedMinor(charge)) : null],
    ['Fee', of.kind === 'payment' ? formatAmount(of.payment.intent.feeMinor) : formatAmount(of.transfer.feeMinor)],
    ['Refunded', charge && charge.amountRefundedMinor > 0n ? formatAmount(charge.amountRefundedMinor) : null],
    ['Taken back', charge && charge.amountReversedMinor > 0n ? formatAmount(charge.amountReversedMinor) : null],
  ])}
${
  movements.length === 0
    ? html`<p class="hint">Nothing is booked for it.</p>`
    : html`<h3>Movements in the ledger</h3><dl class="facts">${movements.map(
        ({ flow, debit, credit, amountMinor }) =>
          html`<div><dt>${explain(debit)} to ${explain(credit)}, ${flow}</dt><dd>${formatAmount(amountMinor)}</dd></div>`,
      )}</dl>`
}</section>`;
}

/** Cases about it, and refunds of it. */
async function related({ money: { db }, base, now }: ConsoleVisit, record: LoadedRecord): Promise<Html> {
  const { merchant, of, id } = record;
  const subjectIds = of.kind === 'payment' ? of.attempts.map((attempt) => attempt.id) : [id];
  const cases = [];
  for (const subjectId of subjectIds) cases.push(...(await listCasesOfSubject(db, merchant.id, subjectId)));
  const refunds = [];
  if (of.kind === 'payment')
    for (const each of subjectIds) refunds.push(...(await listRefundsOfCharge(db, merchant.id, each)));
  if (cases.length + refunds.length === 0) return html``;
  return html`<section class="panel"><h2>Belongs to it</h2><ul class="links">${cases.map(
    (each) => html`<li><a href="${base}/cases/${each.id}">Case: ${kindTexts[each.kind]}, ${each.status}</a></li>`,
  )}${refunds.map(
    (each) =>
      html`<li><a href="${base}/records/${each.id}">Refund of ${formatAmount(each.amountMinor)}, ${timeInSentence(each.createdAt, now)}</a></li>`,
  )}</ul></section>`;
}
