import type { JsonRecord } from '../events/kinds.ts';
import { stableUuid } from '../kit/ids.ts';
import { amountToJson } from '../kit/money.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { partsOf, receivedMinor } from './charge.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import type { Intent } from './intent.ts';
import { sharesToWire } from './intent-wire.ts';

/**
 * The record of a transaction, also in `charge.*` events. Clients of the inherited interface read every field (docs/api.md,
 * "The record of a transaction").
 */
export function chargeToWire(
  { settings }: Pick<PaymentContext, 'settings'>,
  merchant: Merchant,
  intent: Intent,
  charge: Charge,
): JsonRecord {
  return {
    ...identityFields(merchant, charge),
    ...moneyFields(intent, charge),
    ...payerFields(settings.idSecret, merchant, intent, charge),
    ...outcomeFields(charge),
    ...unusedFields,
    terminal_id: intent.terminalId,
    payment_link_id: intent.paymentLinkId,
    custom_fields_values: intent.customFieldsValues ?? {},
    metadata: intent.metadata,
    createdAt: charge.createdAt.toISOString(),
    updatedAt: charge.updatedAt.toISOString(),
  };
}

function identityFields(merchant: Merchant, charge: Charge): JsonRecord {
  return {
    id: charge.id,
    type: 'payment',
    status: charge.status,
    reference: charge.reference,
    transaction_reference: charge.transactionReference,
    network_reference: charge.networkReference,
    network_transaction_id: charge.networkTransactionId,
    payment_intent_id: charge.intentId,
    attempt: Number(charge.attempt),
    account_id: merchant.id,
    business_id: merchant.businessId,
    test_mode: merchant.testMode,
  };
}

function moneyFields(intent: Intent, charge: Charge): JsonRecord {
  const parts = partsOf(charge, intent.shares, receivedMinor(charge));
  return {
    amount: amountToJson(charge.amountMinor),
    amount_paid: amountToJson(receivedMinor(charge)),
    amount_refunded: amountToJson(charge.amountRefundedMinor),
    ...(charge.amountReversedMinor > 0n && { amount_reversed: amountToJson(charge.amountReversedMinor) }),
    ...(charge.debtRepaidMinor > 0n && { debt_repaid: amountToJson(charge.debtRepaidMinor) }),
    currency: charge.currency,
    transaction_fee: amountToJson(parts.feeMinor),
    transaction_fee_type: charge.feePayer,
    shares: sharesToWire(charge, parts.shares),
    merchant_receives: amountToJson(parts.merchantMinor),
  };
}

function payerFields(idSecret: string, merchant: Merchant, intent: Intent, charge: Charge): JsonRecord {
  const codeLength = charge.nextAction?.type === 'enter_code' ? charge.nextAction.length : 0;
  return {
    source: 'online',
    payment_method: charge.network,
    payment_method_id: paymentMethodId(idSecret, merchant, charge),
    payment_account: maskPhoneNumber(charge.accountNumber ?? ''),
    auth_mode: codeLength > 0 ? 'pin' : 'confirm',
    auth_length: codeLength,
    requires_auth: charge.status === 'pending' && charge.nextAction !== null,
    customer: intent.customerId,
    customer_name: intent.customerName,
    customer_email: intent.customerEmail,
    customer_phone: intent.customerPhone,
  };
}

/**
 * The same for the same merchant, network and number. Keyed: otherwise the few numbers that end in the same four digits could
 * be tried out.
 */
function paymentMethodId(idSecret: string, merchant: Merchant, charge: Charge): string {
  const number = charge.accountCanonical ?? charge.id;
  return stableUuid(idSecret, merchant.id, charge.network, number);
}

function outcomeFields(charge: Charge): JsonRecord {
  return {
    paid_date: charge.paidAt?.toISOString() ?? null,
    failure_code: charge.failureCode,
    failure_reason: charge.failureReason,
    review: charge.review,
    late: charge.late,
    next_action: charge.status === 'pending' ? charge.nextAction : null,
  };
}

/** Fields that nothing sets yet (docs/api.md, "The record of a transaction"). */
const unusedFields = {
  notes: null,
  coupon: null,
  discount: null,
  sub_total: null,
  edited: false,
  maintain_original_return_url: false,
  risk_score: {},
} as const;
