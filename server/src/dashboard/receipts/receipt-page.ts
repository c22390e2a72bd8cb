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
import { payerText, proofText, receiptMark } from './receipt-texts.ts';
import { AppError } from '../../api/app-error.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { assert } from '../../kit/assert.ts';
import { findDecision, matchByPerson } from '../../payments/match-by-person.ts';
import { maskedId } from '../../payments/typed-id.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { audit } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { isUuid } from '../../kit/ids.ts';
import { findReceiptById } from '../../receipts/receipt-store.ts';

/** Throws AppError `not_found`, also for another business's. */
async function loadReceipt(
  { money, merchant }: Visit,
  { params: { id = '' } }: Pick<PageInput, 'params'>,
): Promise<Receipt> {
  const receipt = isUuid(id) ? await findReceiptById(money.db, merchant.id, id) : undefined;
  if (!receipt) throw new AppError('not_found', 'There is no such receipt in this environment.');
  return receipt;
}

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

/** A person decides which payment a receipt has paid. A proposal sends the payment's reference, else it is typed. */
const matchReceipt: readonly DashboardRoute[] = formRoutes<Receipt>({
  path: '/receipts/:id/match',
  action: 'receipts.match',
  load: loadReceipt,
  view: (receipt, _visit, { form }) => ({
    heading: 'Which payment did it pay?',
    effect: html`<p>${formatAmount(receipt.amountMinor)} from ${payerText(receipt)}.</p>
<p>Only a payment of the same till and amount can be chosen.</p>`,
    fields: [
      {
        ...{ kind: 'text', name: 'charge', label: 'Reference of the payment', isRequired: true },
        hint: 'It begins with TX and is on the page of the payment.',
      },
    ],
    // A second press of the confirmed button leads where the first one led.
    refusal:
      receipt.chargeId === null || form['confirmed'] === 'true' ? undefined : html`<p>It has paid a payment.</p>`,
    button: 'Look at the payment',
    back: { href: `/receipts/${receipt.id}`, text: 'Back to the receipt' },
  }),
  async confirm(visit, { subject: receipt, input }) {
    const { charge, intent } = await decide(visit, { receipt, input });
    return {
      heading: `Did this receipt pay ${charge.transactionReference}?`,
      effect: html`${facts([
        ['Receipt', html`${formatAmount(receipt.amountMinor)}, ${payerText(receipt)}`],
        ['Transaction id', receipt.transactionId],
        ['Proof', proofText(receipt)],
        ['Payment', foreignText(titleOf({ intent }))],
        ['Customer', intent.customerName === null ? null : foreignText(intent.customerName)],
        ['Number of its payer', maskPhoneNumber(charge.accountNumber ?? '')],
        ['Opened', shownTime(intent.createdAt, visit.now)],
      ])}
<p>Be sure that it is this payer’s money: another customer may have sent the same amount. Ask the payer for the transaction id of their
message.</p>
<p>The payment becomes paid: its page says so to the payer, and your systems get the event. The receipt can pay nothing else. You cannot
undo it; to return the money, refund the payment.</p>`,
      button: `It paid ${charge.transactionReference}`,
    };
  },
  async submit(visit, { subject: receipt, input }) {
    const { charge, intent } = await decide(visit, { receipt, input });
    const page = `/payments/${intent.id}`;
    if (receipt.chargeId === charge.id) return page;
    await matchByPerson(visit.money, { receipt, charge }, (tx) =>
      audit(tx, visit, {
        ...{ action: 'receipts.match', object: { type: 'payment', id: intent.id } },
        changes: maskedChanges({
          receipt: `${formatAmount(receipt.amountMinor)}, ${maskedId(receipt.transactionKey)}`,
          transaction: charge.transactionReference,
        }),
      }),
    );
    return page;
  },
});

async function decide({ money, merchant }: Visit, { receipt, input }: { receipt: Receipt; input: PageInput }) {
  const payment = (input.form['charge'] ?? '').trim();
  const { charge } = await findDecision(money.db, merchant.id, { receiptId: receipt.id, payment });
  const found = await findTransaction(money.db, merchant.id, charge.id);
  assert(found, 'a charge is of an intent');
  if (found.intent.status === 'successful' && receipt.chargeId === null) {
    throw new AppError('state_conflict', 'This payment is paid already.');
  }
  return { charge, intent: found.intent };
}

export const receiptPages: readonly DashboardRoute[] = [show, ...matchReceipt];
