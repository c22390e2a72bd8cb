import { AppError } from '../../api/app-error.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { assert } from '../../kit/assert.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findTransaction } from '../../payments/find-payment.ts';
import { findDecision, matchByPerson } from '../../payments/match-by-person.ts';
import { maskedId } from '../../payments/typed-id.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { audit } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { titleOf } from '../payments/payment-page.ts';
import type { Visit } from '../visit.ts';
import { loadReceipt } from './load-receipt.ts';
import { payerText, proofText } from './receipt-texts.ts';

/** A person decides which payment a receipt has paid. A proposal sends the payment's reference, else it is typed. */
export const matchReceipt: readonly DashboardRoute[] = formRoutes<Receipt>({
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
