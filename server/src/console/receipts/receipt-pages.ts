import { fieldError } from '../../api/app-error.ts';
import { assert } from '../../kit/assert.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { findReceiptConfirmAbove, updateReceiptConfirmAbove } from '../../merchants/receipt-limit.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findDecision, matchByPerson } from '../../payments/match-by-person.ts';
import { listReceiptsToMatch, proposalsFor, whyUnmatched } from '../../payments/unmatched-receipts.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import { audit } from '../audit/record.ts';
import { loadMerchant, type MerchantOfBusiness } from '../businesses/business.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import { limitOf, termsRoutes } from '../terms/terms-form.ts';
import type { ConsoleVisit } from '../visit.ts';

const path = '/businesses/:id/receipts';
const rowsMax = 50;
const proposalsShown = 3;

/** As `receipts list`: the newest that have paid nothing. */
const list: ConsoleRoute = {
  path,
  action: 'records.read',
  async handle(visit, input) {
    const of = await loadMerchant(visit, input);
    const { business, environment, merchant } = of;
    const { db, lists } = visit.money;
    const newest = { limit: rowsMax, offset: 0, before: null };
    const { rows, total } = await listReceiptsToMatch(lists, merchant.id, newest, { mayBelong: false, now: visit.now });
    const why = await whyUnmatched(db, merchant.id, rows);
    const drawn: Html[] = [];
    for (const receipt of rows) drawn.push(await row(visit, of, { receipt, why: why.get(receipt.id)?.reason }));
    const body = html`${recordHead(visit, {
      heading: html`Receipts without a payment of ${foreignText(business.name)}`,
      state: null,
      under: html`<p><a href="${visit.base}/businesses/${business.id}">Back to the business</a>, ${environment}</p>`,
      actions: [],
    })}
${
  rows.length === 0
    ? html`<section class="empty"><p>Every receipt has its payment.</p></section>`
    : html`<p class="hint">The newest ${rows.length} of ${total}. Number and amount propose a payment and prove nothing: a stranger may have paid the
same to the till. The business decides in its dashboard.</p>
<table class="list"><caption class="unseen">Receipts</caption><thead><tr><th scope="col">Transaction</th><th scope="col" class="wide">Why</th>
<th scope="col" class="wide">May belong to</th><th scope="col" class="number">Amount</th></tr></thead><tbody>${drawn}</tbody></table>`
}`;
    return { title: 'Receipts', body };
  },
};

async function row(
  { money, base, now, may }: ConsoleVisit,
  { business, environment }: MerchantOfBusiness,
  { receipt, why }: { receipt: Receipt; why: string | undefined },
): Promise<Html> {
  const proposals = (await proposalsFor(money.db, receipt)).map(({ charge }) => charge.transactionReference);
  const head = `${base}/businesses/${business.id}/receipts/match?environment=${environment}&receipt=${receipt.id}`;
  const mayMatch = may('receipts.match').isAllowed;
  const linked = (reference: string): Html =>
    mayMatch ? html`<a href="${head}&charge=${reference}">${reference}</a>` : html`${reference}`;
  return html`<tr id="row-${receipt.id}"><td><span class="first">${mayMatch ? html`<a href="${head}">${receipt.transactionId}</a>` : receipt.transactionId}</span>
<span class="second">${shownTime(receipt.datedAt, now)}, ${receipt.railAccount}, ${receipt.status}</span><span class="second phone">${why}</span></td>
<td class="wide">${why}</td><td class="wide">${proposals.length === 0 ? 'None' : proposals.slice(0, proposalsShown).map((reference) => html`<span class="unbroken">${linked(reference)}</span><br>`)}${proposals.length > proposalsShown && `and ${proposals.length - proposalsShown} more`}</td>
<td class="number">${formatAmount(receipt.amountMinor)}</td></tr>`;
}

/** As `receipts match`. */
const match = formRoutes<MerchantOfBusiness>({
  ...{ path: `${path}/match`, action: 'receipts.match', load: loadMerchant },
  view: ({ business, environment }, _visit, { query }) => ({
    heading: 'Which payment did the receipt pay?',
    effect: html`<p>${foreignText(business.name)}, ${environment}. The business decides this in its dashboard. Do it here only if it has asked you to.</p>`,
    fields: [
      { kind: 'text', name: 'receipt', label: 'Receipt id', isRequired: true },
      { kind: 'text', name: 'charge', label: 'Reference of the payment', isRequired: true },
    ],
    values: { receipt: query['receipt'] ?? '', charge: query['charge'] ?? '' },
    button: 'Look at the payment',
    back: { href: `/businesses/${business.id}/receipts?environment=${environment}`, text: 'Back to the receipts' },
  }),
  async confirm(visit, { subject: { business, merchant }, input: { form } }) {
    const { receipt, charge } = await decide(visit.money, merchant.id, form);
    return {
      heading: `Did the receipt pay ${charge.transactionReference}?`,
      effect: html`${facts([
        ['Business', foreignText(business.name)],
        ['Receipt', `${formatAmount(receipt.amountMinor)}, ${receipt.transactionId}, ${receipt.status}`],
        ['Time in the message', shownTime(receipt.datedAt, visit.now)],
        ['Payment', charge.transactionReference],
      ])}<p>The payment becomes paid, and the business gets the event. The receipt can pay nothing else. You cannot undo it.</p>`,
      button: `It paid ${charge.transactionReference}`,
    };
  },
  async submit(visit, { subject: { business, merchant }, input: { form } }) {
    const { money } = visit;
    const decision = await decide(money, merchant.id, form);
    const { receipt, charge } = decision;
    // A second press of the button.
    if (receipt.chargeId === charge.id) return;
    await matchByPerson(money, decision, (tx) =>
      audit(tx, visit, {
        ...{ action: 'receipts.match', businessId: business.id, testMode: merchant.testMode },
        ...{ object: { type: 'merchant', id: merchant.id }, sent: { receipt: receipt.id, transaction: charge.id } },
      }),
    );
  },
});

function decide({ db }: ConsoleVisit['money'], merchantId: string, form: Readonly<Record<string, string>>) {
  const payment = (form['charge'] ?? '').trim();
  if (payment === '') throw fieldError('invalid_request', 'charge', 'Type the reference of the payment.');
  return findDecision(db, merchantId, { receiptId: (form['receipt'] ?? '').trim(), payment });
}

/** As `receipts limit`. */
const limit = termsRoutes({
  name: 'receipt-limit',
  action: 'receipts.limit',
  heading: 'Limit for unconfirmed receipts',
  effect: 'Above it a line of the network’s statement must confirm a receipt before it pays.',
  hasDefault: false,
  fields: () => [
    {
      kind: 'text',
      name: 'above',
      label: 'Above this amount in dalasi',
      hint: 'Empty: a message is enough for every amount.',
    },
  ],
  async values(db, { merchant }) {
    const limitMinor = merchant && (await findReceiptConfirmAbove(db, merchant.id));
    return { above: limitMinor === null ? '' : formatAmount(limitMinor, { style: 'plain' }) };
  },
  set(tx, { merchant }, form) {
    assert(merchant, 'the limit is of a merchant');
    tx.send(updateReceiptConfirmAbove(merchant.id, limitOf(form, 'above')));
    return Promise.resolve();
  },
});

export const receiptPages: readonly ConsoleRoute[] = [list, ...match, ...limit];
