import { apiForm } from '../patterns/api-form.ts';
import { hash } from 'node:crypto';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { getCustomer } from '../../customers/manage-customers.ts';
import { getLink } from '../../links/manage-links.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { isPaid, partsOf, receivedMinor, remainingMinor, type Charge } from '../../payments/charge.ts';
import { networkName } from '../../networks/known-networks.ts';
import { listAttempts, payerMinor, type FoundPayment } from '../../payments/find-payment.ts';
import { isOpen, statusAt, totalMinor } from '../../payments/intent.ts';
import { intentSchema, paymentLink } from '../../payments/intent-wire.ts';
import { listRefundsOfCharge } from '../../refunds/find-refund.ts';
import { refundStatus, type Refund } from '../../refunds/refund.ts';
import { getTerminal } from '../../terminals/manage-terminals.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { subAccountNames } from '../patterns/account-names.ts';
import { ifFound } from '../patterns/if-found.ts';
import { metadataFacts } from '../patterns/metadata.ts';
import { lastChange } from '../patterns/changed-by.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { refundState } from '../../portal/records/refund-state.ts';
import type { Visit } from '../visit.ts';
import { paymentTimeline } from './payment-history.ts';
import { attemptList } from '../../portal/records/attempt-list.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import { receiptPanel } from './payment-receipt.ts';
import { findVisiblePayment } from './visible-payment.ts';

interface ShownPayment extends FoundPayment {
  attempts: readonly Charge[];
  refunds: readonly Refund[];
  /** Of the sub-accounts that get a share. */
  names: ReadonlyMap<string, string>;
}

const show: DashboardRoute = {
  path: '/payments/:id',
  action: 'payments.read',
  async handle(visit, input) {
    const found = await findVisiblePayment(visit, input);
    const { db } = visit.money;
    const { id, shares } = found.intent;
    const attempts = await listAttempts(db, visit.merchant.id, id);
    const refunds = await Promise.all(attempts.map((each) => listRefundsOfCharge(db, visit.merchant.id, each.id)));
    const names = await subAccountNames(
      visit,
      shares.map(({ subAccountId }) => subAccountId),
    );
    const payment = { ...found, attempts, refunds: refunds.flat(), names };
    const { base } = visit;
    const { reference } = input.query;
    const version = paymentVersion(visit, found);
    const parameters = new URLSearchParams({ payment: id, version, ...(reference !== undefined && { reference }) });
    // Read again, and put in place of what differs: what is open or has the focus stays.
    return {
      title: titleOf(payment),
      body: html`<div hx-sse:connect="${base}/stream?${parameters.toString()}" hx-swap="none"></div>
<div id="record" class="record" hx-get="${base}/payments/${id}${reference === undefined ? '' : `?reference=${encodeURIComponent(reference)}`}" hx-trigger="changed from:body" hx-select="#record"
hx-swap="outerMorph">${await paymentBody(visit, payment)}</div>`,
    };
  },
};

/** The same as long as the payment's page shows the same. */
export function paymentVersion({ now }: Visit, payment: FoundPayment): string {
  const { intent, charge } = payment;
  const { text } = paymentState(payment, { now });
  return hash('sha256', [intent.updatedAt, charge?.id, charge?.updatedAt, text].map(String).join(' ')).slice(0, 16);
}

/** What the payer sees it as; its amount where it has no title. */
export function titleOf({ intent }: Pick<FoundPayment, 'intent'>): string {
  return cleanText(intent.title ?? '') || `Payment of ${formatAmount(totalMinor(intent))}`;
}

async function paymentBody(visit: Visit, payment: ShownPayment): Promise<Html> {
  const { money, now } = visit;
  const { intent, charge, attempts, names } = payment;
  const payer = charge && maskPhoneNumber(charge.accountNumber ?? '');
  const isOpenNow = isOpen(statusAt(intent, now));
  const address = paymentLink(money, intent);
  const path = `/payments/${intent.id}`;
  return html`${recordHead(visit, {
    heading: formatAmount(payerMinor(payment)),
    state: paymentState(payment, { now }),
    under: html`<p>${foreignText(titleOf(payment))}, ${
      charge && html`${networkName(charge.network)} ${payer}, `
    }${shownTime(charge?.paidAt ?? intent.createdAt, now)}</p>${
      charge && html`<p class="reference">${copyable(charge.transactionReference)}</p>`
    }`,
    actions: [
      leftMinor(payment) > 0n && { href: `${path}/refund`, text: 'Refund', needs: 'refunds.create' },
      isOpenNow && { href: `${path}/cancel`, text: 'Cancel payment', needs: 'payments.write', isDanger: true },
    ],
    reasons: reasonsOf(payment, visit),
  })}
<div class="columns"><div class="stack"><section class="panel"><h2>Money</h2>${moneyFacts(payment, visit)}</section>
<section class="panel"><h2>Tries</h2>${attemptList(visit, attempts)}</section>
${charge?.receivedDirectly && (await receiptPanel(visit, charge))}
${payment.refunds.length > 0 && refundList(payment.refunds, visit)}</div>
<section class="panel"><h2>Details</h2>${facts([
    ...(await madeWith(visit, payment)),
    ['Description', intent.description && foreignText(intent.description)],
    ...Object.entries(intent.customFieldsValues ?? {}).map(
      ([label, value]) => [foreignText(label), foreignText(String(value))] as const,
    ),
    // A counter's payment has the counter in its metadata, which is named above.
    ...(intent.terminalId === null ? metadataFacts(intent.metadata) : []),
    ['Created', shownTime(intent.createdAt, now)],
    ['Events also go to', intent.callbackUrl && foreignText(intent.callbackUrl)],
    [isOpenNow ? 'Page for the payer' : 'Receipt, as the payer sees it', html`<a href="${address}">${address}</a>`],
    ['Last acted on by', await lastChange(visit, intent.id)],
    ['Network’s transaction', charge?.networkTransactionId],
    ['Payment id', intent.id],
  ])}</section></div>
${await paymentTimeline(visit, { id: intent.id, attempts, names, refunds: payment.refunds })}`;
}

/** Who or what the payment came by, with links for those who may follow them. */
async function madeWith(
  { money, merchant, may, base }: Visit,
  { intent }: ShownPayment,
): Promise<(readonly [string, Html | null])[]> {
  const { terminalId, paymentLinkId, customerId, customerName } = intent;
  const isReader = may('records.read').isAllowed;
  const terminal = terminalId === null ? undefined : await ifFound(getTerminal(money.db, merchant.id, terminalId));
  const link = paymentLinkId === null ? undefined : await ifFound(getLink(money.db, merchant.id, paymentLinkId));
  const customer = customerId === null ? undefined : await ifFound(getCustomer(money.db, merchant.id, customerId));
  const linked = (path: string, text: string) =>
    isReader ? html`<a href="${base}${path}">${foreignText(text)}</a>` : foreignText(text);
  const payer = customerName === null ? null : foreignText(customerName);
  return [
    ['Customer', customer ? linked(`/customers/${customer.id}`, customer.name) : payer],
    ['Counter', terminal ? linked(`/counters/${terminal.id}`, terminal.name) : null],
    ['Payment link', link ? linked(`/links/${link.id}`, link.title) : null],
  ];
}

function reasonsOf(payment: ShownPayment, { now, may }: Visit): string[] {
  const { intent, charge } = payment;
  if (!may('refunds.create').isAllowed || isOpen(statusAt(intent, now))) return [];
  if (charge?.status === 'reversed') {
    return [
      charge.receivedDirectly ? contradictedReason : 'The network took the money back, so there is nothing to refund.',
    ];
  }
  if (!charge || !isPaid(charge)) return ['Nothing was paid, so there is nothing to refund.'];
  if (leftMinor(payment) === 0n) return ['All of it is refunded, or being refunded.'];
  return [];
}

const contradictedReason = 'The network’s statement contradicts its receipt, so there is nothing to refund.';

/** What can still be refunded, in bututs. */
function leftMinor({ charge, refunds }: Pick<ShownPayment, 'charge' | 'refunds'>): bigint {
  if (!charge || !isPaid(charge)) return 0n;
  const active = refunds.filter(
    ({ chargeId, transferStatus }) => chargeId === charge.id && refundStatus(transferStatus) !== 'failed',
  );
  return active.reduce(
    (left, refund) => left - refund.amountMinor + refund.amountReversedMinor,
    remainingMinor(charge),
  );
}

/** Who gets which part of it; after refunds, what is left. */
function moneyFacts({ intent, charge, names }: ShownPayment, { base, may }: Visit): Html {
  const received = charge ? receivedMinor(charge) : totalMinor(intent);
  const parts = partsOf(charge ?? intent, intent.shares, received);
  return facts([
    [charge && isPaid(charge) ? 'Payer paid' : 'Payer pays', formatAmount(received)],
    [intent.feePayer === 'customer' ? 'Fee, paid by the payer' : 'Fee', formatAmount(parts.feeMinor)],
    ...parts.shares.map(({ subAccountId, amountMinor }) => {
      const name = foreignText(names.get(subAccountId) ?? 'Sub-account');
      const isReader = may('records.read').isAllowed;
      return [
        isReader ? html`<a href="${base}/sub-accounts/${subAccountId}">${name}</a>` : name,
        formatAmount(amountMinor),
      ] as const;
    }),
    ['You', formatAmount(parts.merchantMinor)],
    ['Refunded', charge && charge.amountRefundedMinor > 0n ? formatAmount(-charge.amountRefundedMinor) : null],
    [
      charge?.receivedDirectly ? 'Taken back' : 'Taken back by the network',
      charge && charge.amountReversedMinor > 0n ? formatAmount(-charge.amountReversedMinor) : null,
    ],
    ['Repaid of what you owed', charge && charge.debtRepaidMinor > 0n ? formatAmount(charge.debtRepaidMinor) : null],
  ]);
}

function refundList(refunds: readonly Refund[], { base, now, may }: Visit): Html {
  const linked = (refund: Refund) =>
    may('records.read').isAllowed
      ? html`<a href="${base}/refunds/${refund.id}">${formatAmount(refund.amountMinor)}</a>`
      : formatAmount(refund.amountMinor);
  return html`<section class="panel"><h2>Refunds</h2><ul class="timeline">${refunds.map(
    (refund) =>
      html`<li>${shownTime(refund.createdAt, now)}<div>${linked(refund)} ${stateMark(refundState(refund))}</div></li>`,
  )}</ul></section>`;
}

const cancel = apiForm<FoundPayment>({
  path: '/payments/:id/cancel',
  action: 'payments.write',
  load: findVisiblePayment,
  ...{ operation: 'cancelPayment', schema: intentSchema, object: 'payment', list: '/payments' },
  id: ({ intent }) => intent.id,
  view: ({ intent }, { now }) => ({
    heading: 'Cancel this payment?',
    effect: html`<p>${foreignText(titleOf({ intent }))}, ${formatAmount(totalMinor(intent))}.</p>
<p>The payer can no longer pay it. Money that is under way is still booked if it arrives.</p>`,
    refusal: isOpen(statusAt(intent, now)) ? undefined : html`<p>It has ended already: there is nothing to cancel.</p>`,
    button: 'Cancel payment',
    isDanger: true,
    back: { href: `/payments/${intent.id}`, text: 'Keep it' },
  }),
});

export const paymentPages: readonly DashboardRoute[] = [show, ...cancel];
