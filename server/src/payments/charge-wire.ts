import Type from 'typebox';
import { amountType, idType, orNull, timeType } from '../api/wire-types.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { stableUuid } from '../kit/ids.ts';
import { amountToJson } from '../kit/money.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { openAction, partsOf, receivedMinor, type Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import type { Intent } from './intent.ts';
import { sharesToWire, feePayer, nextAction, nextActionToWire, splitResult } from './intent-wire.ts';

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
    ...(charge.receivedDirectly && { received_directly: true }),
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
    requires_auth: openAction(charge) !== null,
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
    abandoned_at: charge.abandonedAt?.toISOString() ?? null,
    next_action: nextActionToWire(openAction(charge)),
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

const chargeStatus = Type.Union(
  ['pending', 'completed', 'failed', 'cancelled', 'refunded', 'reversed'].map((status) => Type.Literal(status)),
);

export const chargeSchema = Type.Object(
  {
    id: idType('The charge, which is the transaction id.'),
    type: Type.Literal('payment'),
    status: chargeStatus,
    reference: Type.String({ description: 'Our reference for this attempt, as sent to the network.' }),
    transaction_reference: Type.String({ examples: ['TX-20261120-101800-7KQ2M9XA'] }),
    network_reference: orNull(Type.String()),
    network_transaction_id: orNull(Type.String({ description: 'The network’s transaction id.' })),
    payment_intent_id: idType('The intent it pays.'),
    attempt: Type.Integer(),
    account_id: idType('The merchant in this environment.'),
    business_id: idType('The business.'),
    test_mode: Type.Boolean(),
    amount: amountType('What the merchant collects.'),
    amount_paid: amountType('The amount the payer paid, or the amount requested while the charge is unpaid.'),
    amount_refunded: amountType('The amount refunded.'),
    amount_reversed: Type.Optional(amountType('The amount the network reversed in part; absent if none.')),
    received_directly: Type.Optional(
      Type.Literal(true, {
        description: 'The payer sends it straight to your own number: it is in no balance. Absent otherwise.',
      }),
    ),
    debt_repaid: Type.Optional(
      amountType('The part that repaid your `owed_balance` instead of adding to your balance; absent if none.'),
    ),
    currency: Type.String(),
    transaction_fee: amountType('The fee.'),
    transaction_fee_type: feePayer,
    ...splitResult,
    source: Type.String(),
    payment_method: Type.String({ description: 'The network.' }),
    payment_method_id: idType('Stable for one network and account number.'),
    payment_account: Type.String({ description: 'The last four digits of the number, empty while unknown.' }),
    auth_mode: Type.Union([Type.Literal('confirm'), Type.Literal('pin')]),
    auth_length: Type.Integer(),
    requires_auth: Type.Boolean({ description: 'Whether the payer still has to act.' }),
    customer: orNull(Type.String()),
    customer_name: orNull(Type.String()),
    customer_email: orNull(Type.String()),
    customer_phone: orNull(Type.String()),
    paid_date: orNull(timeType('When it was paid.')),
    failure_code: orNull(Type.String()),
    failure_reason: orNull(Type.String()),
    review: orNull(Type.String()),
    late: Type.Boolean({
      description:
        'True when this attempt succeeded after it, or its payment, had ended, for example when it was ' +
        'approved after being declined. `late` of the intent stays false if the payment was still open.',
    }),
    abandoned_at: orNull(
      timeType(
        'When the payer left this attempt to use another number or network. It can still succeed while it is `pending`.',
      ),
    ),
    next_action: nextAction,
    notes: Type.Null(),
    coupon: Type.Null(),
    discount: Type.Null(),
    sub_total: Type.Null(),
    edited: Type.Boolean(),
    maintain_original_return_url: Type.Boolean(),
    risk_score: Type.Object({}),
    terminal_id: orNull(Type.String()),
    payment_link_id: orNull(Type.String()),
    custom_fields_values: Type.Record(Type.String(), Type.Unknown()),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    createdAt: timeType('When the attempt started.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'Charge' },
);
