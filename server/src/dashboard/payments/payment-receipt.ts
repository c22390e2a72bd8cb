import { listCasesOfSubject } from '../../cases/list-cases.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Charge } from '../../payments/charge.ts';
import { maskedId, typedIdOf } from '../../payments/typed-id.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { inDalasi, shownTime, stateMark, timeInSentence } from '../../portal/patterns/texts.ts';
import { findReceiptOfCharge } from '../../receipts/receipt-store.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import { payerText, proofText, receiptMark } from '../receipts/receipt-texts.ts';
import type { Visit } from '../visit.ts';

/** The receipt of a payment whose payer sends the money straight to the business: the one that paid it, or what is waited for. */
export async function receiptPanel(visit: Visit, charge: Charge): Promise<Html> {
  const { db } = visit.money;
  const receipt = await findReceiptOfCharge(db, charge.merchantId, charge.id);
  const content = receipt
    ? html`${receiptFacts(visit, receipt)}${receipt.status === 'contradicted' && (await contradiction(visit, charge))}`
    : html`<p>${await waitingText(visit, charge)}</p>`;
  return html`<section class="panel"><h2>Receipt</h2>${content}
<p class="hint">The money goes straight to your own number. It is in no balance here.</p></section>`;
}

function receiptFacts({ base, now, may }: Visit, receipt: Receipt): Html {
  return html`${facts([
    ['State', stateMark(receiptMark(receipt))],
    ['Proof', proofText(receipt)],
    ['Transaction id', receipt.transactionId],
    ['Amount', formatAmount(receipt.amountMinor)],
    ['From', payerText(receipt)],
    ['Time in the message', shownTime(receipt.datedAt, now)],
  ])}${may('records.read').isAllowed && html`<p><a href="${base}/receipts/${receipt.id}">The receipt</a></p>`}`;
}

/** Why it was taken back, and where somebody looks at it. */
async function contradiction({ money, now }: Visit, charge: Charge): Promise<Html> {
  const cases = await listCasesOfSubject(money.db, charge.merchantId, charge.id);
  const found = cases.findLast(({ kind }) => kind === 'network_reversal');
  if (!found) return html``;
  const state = found.status === 'open' ? 'The operator of this service looks at it' : 'Closed';
  return html`<div id="case" class="notice wait"><p>${inDalasi(found.summary)} You owe nothing for it.<br>
${state}, since ${timeInSentence(found.createdAt, now)}: case <code>${found.id}</code></p></div>`;
}

async function waitingText({ money }: Visit, charge: Charge): Promise<string> {
  const { value, waitsFor } = await typedIdOf(money.db, charge);
  if (value === null) return 'The payer has typed no transaction id, or none that fits.';
  const typed = `The payer typed ${maskedId(value)}.`;
  switch (waitsFor) {
    case 'statement':
      return `${typed} The amount is above your limit: a line of the network’s statement must confirm it first.`;
    case 'check':
      return `${typed} It was typed for another payment too. Decide on the receipt’s page which one it paid.`;
    default:
      return `${typed} The network’s message with it has not reached us yet.`;
  }
}
