import type { MerchantAction } from '../../accounts/permissions.ts';
import { hasRecentFactor } from '../../accounts/sessions.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import type { Transaction } from '../../kit/db.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { readBalances } from '../../ledger/balances.ts';
import { findRefundLimit } from '../../merchants/refund-limit.ts';
import { foreignText } from '../../pages/page-text.ts';
import { isPaid, type Charge } from '../../payments/charge.ts';
import { networkName } from '../../networks/known-networks.ts';
import type { Intent } from '../../payments/intent.ts';
import { previewRefund, refundedMinorOf, type RefundPreview } from '../../refunds/create-refund.ts';
import { refundSchema } from '../../refunds/wire-schemas.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { subAccountNames } from '../patterns/account-names.ts';
import { act } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { Confirmation } from '../../portal/patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { titleOf } from '../payments/payment-page.ts';
import { findVisiblePayment } from '../payments/visible-payment.ts';
import type { Visit } from '../visit.ts';

/** A paid attempt, and what of it can still be refunded. */
interface Refundable {
  intent: Intent;
  charge: Charge;
  /** Of everything that is left; null where nothing is. */
  whole: RefundPreview | null;
}

/** A refund of a payment: the amount, then what it takes from whom, then the refund. */
export const newRefund: readonly DashboardRoute[] = formRoutes<Refundable>({
  path: '/payments/:id/refund',
  action: 'refunds.create',
  async load(visit, input) {
    const { intent, charge } = await findVisiblePayment(visit, input);
    if (!charge || !isPaid(charge))
      throw new AppError('state_conflict', 'Nothing was paid, so there is nothing to refund.');
    const preview = previewRefund(visit.money, visit.merchant, { intent, charge }, null);
    return { intent, charge, whole: await preview.catch(nullIfRefused) };
  },
  operation: 'createRefund',
  view: ({ intent, charge, whole }) => ({
    heading: charge.receivedDirectly ? 'Have you given the money back?' : 'Refund this payment',
    effect: html`<p>${foreignText(titleOf({ intent }))}, ${charge.transactionReference}.</p>
${whole !== null && html`<p>${formatAmount(whole.amountMinor)} of it can be refunded.</p>`}
${charge.receivedDirectly && html`<p>${onlyYou}</p>`}`,
    fields: [
      { kind: 'amount', name: 'amount', label: 'Amount to refund in dalasi', isRequired: true },
      ...(charge.receivedDirectly ? [returnedField] : []),
    ],
    values: whole === null ? {} : { amount: formatAmount(whole.amountMinor).slice(1) },
    refusal: whole === null ? html`<p>All of it is refunded, or being refunded.</p>` : undefined,
    button: 'Look at the refund',
    back: { href: `/payments/${intent.id}`, text: 'Keep it' },
  }),
  async confirm(visit, { subject, body }) {
    if (subject.charge.receivedDirectly && body['money_returned'] !== true) {
      throw fieldError(
        'invalid_request',
        'money_returned',
        'Give the money back first, then tick this. Nothing was noted.',
      );
    }
    return confirmRefund(visit, subject, amountOf(body));
  },
  async submit(visit, { subject: { charge }, body, formId }) {
    const refund = await act(visit, {
      ...{ operationId: 'createRefund', schema: refundSchema, formId, object: { type: 'refund' } },
      body: {
        reference: charge.id,
        amount: body['amount'],
        ...(charge.receivedDirectly && { money_returned: body['money_returned'] === true }),
      },
      alsoWrite: (tx) => tx.beforeCommit((last) => refuseOvertaken(last, visit, charge)),
    });
    return `/refunds/${refund.id}`;
  },
});

/**
 * Another refund of the payment, ordered between the look at this one and its transaction, may bring both above the limit. Within the
 * transaction, which has locked the payment, nothing can. Throws AppError.
 */
async function refuseOvertaken(tx: Transaction, { merchant, session, now }: Visit, charge: Charge): Promise<void> {
  if (hasRecentFactor(session, now)) return;
  const limitMinor = await findRefundLimit(tx, merchant.businessId);
  if (limitMinor === null || (await refundedMinorOf(tx, merchant.id, charge.id)) <= limitMinor) return;
  throw new AppError(
    'state_conflict',
    'Another refund of this payment was ordered meanwhile. Nothing was done. Look at it again.',
  );
}

const onlyYou = 'The payer sent the money straight to your own number, so nobody but you can return it.';
const returnedField: Field = {
  kind: 'checkbox',
  name: 'money_returned',
  label: 'Yes, I have given this amount back to the payer',
};

function nullIfRefused(error: unknown): null {
  if (error instanceof AppError && error.code === 'refund_not_possible') return null;
  throw error;
}

function amountOf({ amount }: Record<string, unknown>): bigint | null {
  return typeof amount === 'number' ? parseAmount(amount) : null;
}

async function confirmRefund(
  visit: Visit,
  { intent, charge }: Refundable,
  amountMinor: bigint | null,
): Promise<Confirmation<MerchantAction>> {
  const { money, accounts, merchant } = visit;
  const preview = await previewRefund(money, merchant, { intent, charge }, amountMinor);
  const limitMinor = await findRefundLimit(accounts.db, merchant.businessId);
  // Together with what was refunded of the payment before: two halves are no way around the limit.
  const isAboveLimit = limitMinor !== null && preview.refundedMinor + preview.amountMinor > limitMinor;
  const amount = formatAmount(preview.amountMinor);
  const network = networkName(charge.network);
  const action = isAboveLimit ? 'refunds.create_above_limit' : 'refunds.create';
  const payment = `${titleOf({ intent })}, ${charge.transactionReference}.`;
  if (preview.route === 'record') {
    return {
      heading: `Note that you gave ${amount} back?`,
      effect: html`<p>${foreignText(payment)} ${onlyYou}</p>
<p>This notes that the payer has it back. No money moves, and your balance stays as it is. It cannot be undone.</p>`,
      button: `I have given ${amount} back`,
      action,
    };
  }
  const way =
    preview.route === 'network'
      ? `${network} returns it to the payer.`
      : `It is paid out to ${maskPhoneNumber(charge.accountNumber ?? '')} at ${network}.`;
  return {
    heading: `Refund ${amount}?`,
    effect: html`<p>${foreignText(titleOf({ intent }))}, ${charge.transactionReference}. ${way}</p>
${await effectOf(visit, preview, charge)}
<p>Once the network has it, a refund cannot be taken back.</p>
${isAboveLimit && html`<p>Above ${formatAmount(limitMinor)} a payment is refunded with the second factor.</p>`}`,
    button: `Refund ${amount}`,
    action,
  };
}

/** Who gives what, and what the business has before and after. */
async function effectOf(
  visit: Visit,
  { amountMinor, parts }: RefundPreview,
  { feeMinor, feePayer }: Charge,
): Promise<Html> {
  const { id: merchantId, currency } = visit.merchant;
  const accounts = ['payable_available', 'payable_pending'] as const;
  const balances = await readBalances(visit.money.db, { merchantId, currency, accounts });
  const hasMinor = (balances.get('payable_available') ?? 0n) + (balances.get('payable_pending') ?? 0n);
  const ids = parts.shares.map(({ subAccountId }) => subAccountId);
  const names = await subAccountNames(visit, ids);
  const afterMinor = hasMinor - parts.merchantMinor;
  return html`${facts([
    ['The payer gets', formatAmount(amountMinor)],
    ['You give', formatAmount(parts.merchantMinor)],
    ...parts.shares.map(
      ({ subAccountId, amountMinor: share }) =>
        [html`${foreignText(names.get(subAccountId) ?? 'Sub-account')} gives`, formatAmount(share)] as const,
    ),
    ['Returned of the fee', parts.feeMinor > 0n ? formatAmount(parts.feeMinor) : null],
    ['Your money now, settling included', formatAmount(hasMinor)],
    ['Your money after it', formatAmount(afterMinor)],
  ])}
${feeMinor > 0n && feePayer === 'business' && html`<p class="hint">The fee that you paid is not returned.</p>`}
${parts.shares.length > 0 && html`<p class="hint">What a sub-account no longer has, you advance; its next shares repay you.</p>`}
${afterMinor < 0n && html`<p class="notice wait">You do not have enough for this now. Collect more first.</p>`}`;
}
