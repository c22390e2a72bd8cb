import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findTransaction } from '../../payments/find-payment.ts';
import { proposalsFor, whyUnmatched } from '../../payments/unmatched-receipts.ts';
import type { Proposal } from '../../payments/unmatched-receipts.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { titleOf } from '../payments/payment-page.ts';
import type { DashboardServices } from '../services.ts';
import type { Visit } from '../visit.ts';
import { loadReceipt } from './load-receipt.ts';
import { matchReceipt } from './match-receipt.ts';
import { payerText, proofText, receiptMark } from './receipt-texts.ts';

const show: DashboardRoute = {
  method: 'GET',
  path: '/receipts/:id',
  section: 'receipts',
  action: 'records.read',
  async handle(services, visit, input) {
    const receipt = await loadReceipt(services, visit, input);
    const { datedAt, createdAt, payerName, payerNumber } = receipt;
    const amount = formatAmount(receipt.amountMinor);
    return {
      title: `Receipt of ${amount}`,
      body: html`${recordHead(visit, {
        heading: amount,
        state: receiptMark(receipt),
        under: html`<p>${payerText(receipt)}, ${shownTime(datedAt, visit.now)}</p><p class="reference">${copyable(receipt.transactionId)}</p>`,
        actions: [],
      })}
<div class="columns"><div class="stack">${await payments(services, visit, receipt)}</div>
<section class="panel"><h2>Details</h2>${facts([
        ['Payer', payerName && foreignText(payerName)],
        ['Number', payerNumber && maskPhoneNumber(payerNumber)],
        ['Proof', proofText(receipt)],
        ['Time in the message', shownTime(datedAt, visit.now)],
        ['Arrived', shownTime(createdAt, visit.now)],
        ['Account', receipt.railAccount],
        ['Receipt id', receipt.id],
      ])}</section></div>`,
    };
  },
};

/** What it has paid, else why it has paid nothing and what it may have paid. */
async function payments(services: DashboardServices, visit: Visit, receipt: Receipt): Promise<Html> {
  const { db } = services.money;
  const { merchant } = visit;
  if (receipt.chargeId !== null) {
    const paid = await findTransaction(db, merchant.id, receipt.chargeId);
    return html`<section class="panel"><h2>It paid</h2>${paid && paymentTable(visit, [paid], null)}</section>`;
  }
  const why = (await whyUnmatched(db, merchant.id, [receipt])).get(receipt.id);
  const typed = await Promise.all(
    (why?.typedFor ?? []).map(({ chargeId }) => findTransaction(db, merchant.id, chargeId)),
  );
  const typedFor = typed.filter((each) => each !== undefined);
  const proposals = receipt.status === 'contradicted' ? [] : await proposalsFor(db, receipt);
  return html`<section class="panel"><h2>It has paid nothing</h2><p>${why?.reason}</p>
${typedFor.length > 0 && html`<p>Its transaction id was typed for:</p>${paymentTable(visit, typedFor, null)}`}</section>
${receipt.status !== 'contradicted' && proposalPanel(visit, receipt, proposals)}`;
}

function proposalPanel(visit: Visit, receipt: Receipt, proposals: readonly Proposal[]): Html {
  const mayMatch = visit.may('receipts.match').isAllowed;
  const other = html`<p><a href="${visit.base}/receipts/${receipt.id}/match">Another payment</a></p>`;
  if (proposals.length === 0) {
    return html`<section class="panel"><h2>May belong to</h2>
<p>No unpaid payment of ${formatAmount(receipt.amountMinor)} was opened around its time. It may be an ordinary payment to your number, which has nothing to do with Dalasi.</p>${mayMatch && other}</section>`;
  }
  return html`<section class="panel"><h2>May belong to</h2>
<p>The same number and amount around its time: this proposes a payment and proves nothing.</p>
${paymentTable(visit, proposals, mayMatch ? receipt : null)}${mayMatch && other}</section>`;
}

/** With a receipt, each has a button that leads to the confirmation. */
function paymentTable({ base, now, guardField }: Visit, rows: readonly Proposal[], matched: Receipt | null): Html {
  return html`<table class="list"><caption class="unseen">Payments</caption>
<thead><tr><th scope="col">For</th><th scope="col" class="wide">State</th><th scope="col" class="number">${matched ? 'Decide' : 'Amount'}</th></tr></thead>
<tbody>${rows.map((row) => {
    const { intent, charge } = row;
    const mark = stateMark(paymentState(row, { now }));
    return html`<tr><td><a href="${base}/payments/${intent.id}"><span class="first">${foreignText(titleOf(row))}</span></a>
<span class="second">${maskPhoneNumber(charge.accountNumber ?? '')} ${shownTime(charge.createdAt, now)}<br>${charge.transactionReference}</span><span class="second phone">${mark}</span></td>
<td class="wide">${mark}</td><td class="number">${
      matched
        ? html`<form method="post" action="${base}/receipts/${matched.id}/match">${guardField}<input type="hidden" name="charge" value="${charge.transactionReference}">
<button class="button small plain">It paid this</button></form>`
        : formatAmount(charge.amountPaidMinor)
    }</td></tr>`;
  })}</tbody></table>`;
}

export const receiptPages: readonly DashboardRoute[] = [show, ...matchReceipt];
