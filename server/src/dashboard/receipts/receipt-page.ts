import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findTransaction } from '../../payments/find-payment.ts';
import { proposalsFor, whyUnmatched, type Proposal } from '../../payments/unmatched-receipts.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, timeInSentence } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { titleOf } from '../payments/payment-page.ts';
import type { Visit } from '../visit.ts';
import { loadReceipt } from './load-receipt.ts';
import { matchReceipt } from './match-receipt.ts';
import { payerText, proofText, receiptMark } from './receipt-texts.ts';

const show: DashboardRoute = {
  path: '/receipts/:id',
  action: 'records.read',
  async handle(visit, input) {
    const receipt = await loadReceipt(visit, input);
    const { datedAt, createdAt, payerName, payerNumber } = receipt;
    const amount = formatAmount(receipt.amountMinor);
    return {
      title: `Receipt of ${amount}`,
      body: html`${recordHead(visit, {
        heading: amount,
        state: receiptMark(receipt),
        under: html`<p>${payerText(receipt)}, ${timeInSentence(datedAt, visit.now)}</p><p class="reference">${copyable(receipt.transactionId)}</p>`,
        actions: [],
      })}
<div class="columns"><div class="stack">${await payments(visit, receipt)}</div>
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
async function payments(visit: Visit, receipt: Receipt): Promise<Html> {
  const { db } = visit.money;
  const { merchant } = visit;
  if (receipt.chargeId !== null) {
    const paid = await findTransaction(db, merchant.id, receipt.chargeId);
    return html`<section class="panel"><h2>${receipt.status === 'contradicted' ? 'It had paid' : 'It paid'}</h2>${paid && paymentTable(visit, [paid])}</section>`;
  }
  const why = (await whyUnmatched(db, merchant.id, [receipt])).get(receipt.id);
  const typedFor = (why?.typedFor ?? []).map(({ intentId }) => intentId);
  const proposals = receipt.status === 'contradicted' ? [] : await proposalsFor(db, receipt);
  const proposed = new Set(proposals.map(({ intent }) => intent.id));
  const others = (why?.typedFor ?? []).filter(({ intentId }) => !proposed.has(intentId));
  const found = await Promise.all(others.map(({ chargeId }) => findTransaction(db, merchant.id, chargeId)));
  const typed = found.filter((each) => each !== undefined);
  return html`<section class="panel"><h2>It has paid nothing</h2><p>${why?.reason}</p>
${typed.length > 0 && html`<p>Its transaction id was typed for:</p>${paymentTable(visit, typed)}`}</section>
${receipt.status !== 'contradicted' && proposalPanel(visit, { receipt, proposals, typedFor })}`;
}

interface Choice {
  receipt: Receipt;
  proposals: readonly Proposal[];
  /** The payments for which its id was typed. */
  typedFor: readonly string[];
}

function proposalPanel(visit: Visit, choice: Choice): Html {
  const { receipt, proposals, typedFor } = choice;
  const other =
    visit.may('receipts.match').isAllowed &&
    html`<p><a href="${visit.base}/receipts/${receipt.id}/match">Another payment</a></p>`;
  if (proposals.length === 0) {
    return html`<section class="panel"><h2>May belong to</h2>
<p>No unpaid payment of ${formatAmount(receipt.amountMinor)} was opened around its time. It may be an ordinary payment to your number, which has nothing to do with Dalasi.</p>${other}</section>`;
  }
  const isTyped = ({ intent }: Proposal): boolean => typedFor.includes(intent.id);
  const sorted = proposals.toSorted((one, another) => Number(isTyped(another)) - Number(isTyped(one)));
  return html`<section class="panel"><h2>May belong to</h2>
<p>The same amount to the same number, around its time: this proposes a payment and proves nothing.</p>
${paymentTable(visit, sorted, choice)}${other}</section>`;
}

/** With a choice, each has a button that leads to the confirmation. */
function paymentTable(visit: Visit, rows: readonly Proposal[], choice: Choice | null = null): Html {
  const { base, now } = visit;
  const mayChoose = visit.may('receipts.match').isAllowed;
  return html`<table class="list"><caption class="unseen">Payments</caption>
<thead><tr><th scope="col">For</th><th scope="col" class="number">${choice && mayChoose ? 'Decide' : 'Amount'}</th></tr></thead>
<tbody>${rows.map((row) => {
    const { intent, charge } = row;
    return html`<tr><td><a href="${base}/payments/${intent.id}"><span class="first">${foreignText(titleOf(row))}</span></a>
<span class="second">${maskPhoneNumber(charge.accountNumber ?? '')} ${shownTime(charge.createdAt, now)}<br>${charge.transactionReference}</span>
${stateMark(paymentState(row, { now }))}${choice?.typedFor.includes(intent.id) && html`<span class="second">Its payer typed this transaction id.</span>`}</td>
<td class="number">${choice && mayChoose ? chooseButton(visit, choice, charge.transactionReference) : formatAmount(charge.amountPaidMinor)}</td></tr>`;
  })}</tbody></table>`;
}

function chooseButton({ base, guardField }: Visit, { receipt }: Choice, reference: string): Html {
  return html`<form method="post" action="${base}/receipts/${receipt.id}/match">${guardField}<input type="hidden" name="charge" value="${reference}">
<button class="button small plain">It paid this</button></form>`;
}

export const receiptPages: readonly DashboardRoute[] = [show, ...matchReceipt];
