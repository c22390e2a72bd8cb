import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import type { Intent } from './intent.ts';
import { splitToWire } from './split-wire.ts';

/**
 * The answer of POST /v1/payments: flat, with the fields of docs/payments.md, "Create a payment", and the intent's id under
 * the name `id` too, which client libraries read.
 */
export function createdIntentToWire(context: PaymentContext, intent: Intent): JsonRecord {
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

/** The whole intent as its merchant reads it, with what the payer must still do. */
export function intentToWire(
  context: PaymentContext,
  merchant: Merchant,
  intent: Intent,
  charge: Charge | null | undefined,
): JsonRecord {
  // After the end there is nothing left to do, even where the network still has to say how the attempt went.
  const isUnderWay = statusAt(intent, context.clock.now()) === 'processing' && charge?.status === 'pending';
  return {
    ...createdIntentToWire(context, intent),
    ...intentDetails(merchant, intent),
    next_action: isUnderWay ? charge.nextAction : null,
    transaction_id: charge?.id ?? null,
  };
}

/** An intent in a list: without its secret, which is nobody's business there, and without a look at its charges. */
export function listedIntentToWire(context: PaymentContext, merchant: Merchant, intent: Intent): JsonRecord {
  const { intent_secret: _secret, ...fields } = createdIntentToWire(context, intent);
  return { ...fields, ...intentDetails(merchant, intent) };
}

/** The record of `payment_intent.*` events: as in a list, because the secret stays out of what is sent around. */
export function intentEventRecord(context: PaymentContext, merchant: Merchant, intent: Intent): JsonRecord {
  return listedIntentToWire(context, merchant, intent);
}

export function paymentLink(context: PaymentContext, intent: Intent): string {
  return `${context.settings.publicUrl()}/pay/${intent.checkoutToken}`;
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
