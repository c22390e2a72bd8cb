import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson, percentToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { explainShare } from '../sub-accounts/share-explanation.ts';
import { shareBase } from '../sub-accounts/shares.ts';
import type { Share } from '../sub-accounts/shares.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { statusAt, totalMinor } from './intent.ts';
import type { Intent, PaymentAmount } from './intent.ts';

type WireContext = Pick<PaymentContext, 'settings' | 'clock'>;

/**
 * The response of POST /v1/payments (docs/payments.md, "Create a payment"). The intent's id is also there as `id`, which
 * client libraries read.
 */
export function createdIntentToWire(context: WireContext, intent: Intent): JsonRecord {
  return {
    id: intent.id,
    payment_intent_id: intent.id,
    intent_secret: intent.intentSecret,
    payment_link: paymentLink(context, intent),
    amount: amountToJson(intent.amountMinor),
    transaction_fee: amountToJson(intent.feeMinor),
    transaction_fee_type: intent.feePayer,
    currency: intent.currency,
    expires_at: intent.expiresAt.toISOString(),
    status: statusAt(intent, context.clock.now()),
  };
}

/** The whole intent, with what the payer has to do next. */
export function intentToWire(
  context: WireContext,
  merchant: Merchant,
  intent: Intent,
  charge: Charge | null | undefined,
): JsonRecord {
  // Once the intent has ended there is nothing left to do, even while the attempt's outcome is unknown.
  const isUnderWay = statusAt(intent, context.clock.now()) === 'processing' && charge?.status === 'pending';
  return {
    ...createdIntentToWire(context, intent),
    ...intentDetails(merchant, intent),
    next_action: isUnderWay ? charge.nextAction : null,
    transaction_id: charge?.id ?? null,
  };
}

/** An intent in lists and in `payment_intent.*` events: without its secret, and without a query for its charges. */
export function listedIntentToWire(context: WireContext, merchant: Merchant, intent: Intent): JsonRecord {
  const { intent_secret: _secret, ...fields } = createdIntentToWire(context, intent);
  return { ...fields, ...intentDetails(merchant, intent) };
}

/** The address of the intent's hosted page. */
export function paymentLink(
  { settings }: Pick<PaymentContext, 'settings'>,
  { checkoutToken }: Pick<Intent, 'checkoutToken'>,
): string {
  return `${settings.publicUrl()}/pay/${checkoutToken}`;
}

function intentDetails(merchant: Merchant, intent: Intent): JsonRecord {
  return {
    sub_account: intent.subAccountId,
    sub_account_group: intent.subAccountGroupId,
    ...splitToWire(intent),
    title: intent.title,
    description: intent.description,
    customer: intent.customerId,
    customer_name: intent.customerName,
    customer_email: intent.customerEmail,
    customer_phone: intent.customerPhone,
    return_url: intent.returnUrl,
    cancel_url: intent.cancelUrl,
    callback_url: intent.callbackUrl,
    payment_methods: intent.paymentMethods,
    metadata: intent.metadata,
    attempts: Number(intent.attempts),
    late: intent.late,
    review: intent.review,
    test_mode: merchant.testMode,
    createdAt: intent.createdAt.toISOString(),
    updatedAt: intent.updatedAt.toISOString(),
  };
}

/** Who gets which part of a payment and why, the same in previews, intents and charges. */
export function splitToWire(payment: PaymentAmount & { shares: readonly Share[] }): JsonRecord {
  const sharesMinor = payment.shares.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  return {
    shares: sharesToWire(payment, payment.shares),
    merchant_receives: amountToJson(totalMinor(payment) - payment.feeMinor - sharesMinor),
  };
}

export function sharesToWire(payment: PaymentAmount, shares: readonly Share[]): JsonRecord[] {
  const baseMinor = shareBase(payment);
  return shares.map((share) => {
    const { exact, text } = explainShare(baseMinor, share);
    return {
      sub_account: share.subAccountId,
      percentage: percentToJson(share.percentHundredths),
      amount: amountToJson(share.amountMinor),
      exact_amount: exact,
      explanation: text,
    };
  });
}
