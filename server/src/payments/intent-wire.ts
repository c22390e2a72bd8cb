import Type from 'typebox';
import {
  amountType,
  currencyType,
  idType,
  ignoredType,
  metadataType,
  optional,
  orNull,
  textType,
  timeType,
  urlType,
} from '../api/wire-types.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson, parseAmount, percentToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { NextAction } from '../networks/contract.ts';
import { explainShare } from '../sub-accounts/share-explanation.ts';
import { shareBase, type Share } from '../sub-accounts/shares.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { intentStatuses, statusAt, totalMinor, type Intent, type PaymentAmount } from './intent.ts';

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
    next_action: isUnderWay ? nextActionToWire(charge.nextAction) : null,
    transaction_id: charge?.id ?? null,
  };
}

/** What the payer has to do next, in the names of the wire. */
export function nextActionToWire(action: NextAction | null): JsonRecord | null {
  if (action?.type !== 'send_and_enter_id') return action;
  const { type, toNumber, toName, amount } = action;
  return { type, to_number: toNumber, to_name: toName, amount: amountToJson(parseAmount(Number(amount))) };
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

const nameLengthMax = 200;
const emailLengthMax = 254;
const phoneLengthMax = 32;

/** Who a payment is shared with; inside `data`, and beside it for clients that send it there. */
export const splitFields = {
  sub_account: optional(Type.String({ maxLength: 64, description: 'The sub-account that receives its share.' })),
  sub_account_group: optional(
    Type.String({ maxLength: 64, description: 'The sub-account group that the payment is split among.' }),
  ),
};

export const newPaymentSchema = Type.Object(
  {
    amount: amountType('What the merchant collects.'),
    currency: currencyType,
    return_url: optional(
      urlType(
        'Where the payer returns after paying, with `payment_intent_id` and `status` in the query. Default: your setting.',
      ),
    ),
    cancel_url: optional(urlType('Where the payer returns after cancelling. Default: your setting.')),
    callback_url: optional(
      urlType('Receives the events of this payment, in addition to your webhook endpoints. Default: your setting.'),
    ),
    network: optional(Type.String({ minLength: 1, maxLength: 32, description: 'Starts the first attempt at once.' })),
    account_number: optional(
      Type.String({ minLength: 1, maxLength: phoneLengthMax, description: 'The payer’s number, in any usual form.' }),
    ),
    skip_url_validation: optional(
      Type.Boolean({
        description:
          'Stores the URLs without validation, for app links such as `shop://done`. Pages link http, https ' +
          'and app schemes, and show other addresses as text.',
      }),
      { default: false },
    ),
    metadata: optional(metadataType, { default: {} }),
    title: optional(textType('The title shown to the payer.', nameLengthMax)),
    description: optional(textType('The description shown to the payer.')),
    customer: optional(
      Type.String({
        maxLength: 64,
        description: 'One of your customers. Name, email and phone default to the customer’s.',
      }),
    ),
    customer_name: optional(textType('The payer’s name.', nameLengthMax)),
    customer_email: optional(
      Type.String({ format: 'email', maxLength: emailLengthMax, description: 'The payer’s email address.' }),
    ),
    customer_phone: optional(
      textType('The payer’s phone number: Gambian in any usual form, or foreign with +.', phoneLengthMax),
    ),
    payment_methods: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
        minItems: 1,
        maxItems: 10,
        description: 'The networks the page offers; `wallet` stands for all.',
      }),
      { default: ['wallet'] },
    ),
    ...splitFields,
    from_sdk: ignoredType,
  },
  { additionalProperties: false },
);

export const previewSchema = Type.Object(
  { amount: newPaymentSchema.properties.amount, currency: newPaymentSchema.properties.currency, ...splitFields },
  { additionalProperties: false },
);

export const feePayer = Type.Union([Type.Literal('business'), Type.Literal('customer')], {
  description: 'Who pays the fee.',
});

const intentStatus = Type.Union(intentStatuses.map((status) => Type.Literal(status)));

export const nextAction = orNull(
  Type.Union(
    [
      Type.Object({ type: Type.Literal('open_url'), url: Type.String() }),
      Type.Object({ type: Type.Literal('approve_on_phone') }),
      Type.Object({ type: Type.Literal('approve_then_confirm') }),
      Type.Object({ type: Type.Literal('enter_code'), length: Type.Integer() }),
      Type.Object({
        type: Type.Literal('send_and_enter_id'),
        to_number: Type.String({ description: 'The number that the payer sends the money to.' }),
        to_name: Type.String({ description: 'Whose number that is, as the network shows it.' }),
        amount: Type.Number({ description: 'Exactly what the payer sends.' }),
      }),
    ],
    { description: 'What the payer has to do next.' },
  ),
);

/** The response to a created payment (docs/payments.md, "Create a payment"). */
const createdFields = {
  id: idType('The intent, the same as `payment_intent_id`.'),
  payment_intent_id: idType('The intent.'),
  intent_secret: Type.String({ description: '64 hexadecimal characters with which your server verifies the payment.' }),
  payment_link: Type.String({ description: 'The hosted page: send the payer here.' }),
  amount: amountType('What the merchant collects.'),
  transaction_fee: amountType('The fee.'),
  transaction_fee_type: feePayer,
  currency: Type.String(),
  expires_at: timeType('When the intent expires.'),
  status: intentStatus,
};

/** One part of a split, with its calculation. */
const shareSchema = Type.Object(
  {
    sub_account: idType('The sub-account.'),
    percentage: Type.Number({ description: 'Its percentage when the payment was created.' }),
    amount: amountType('The amount of the share.'),
    exact_amount: Type.String({ description: 'The exact share before rounding, in dalasi.', examples: ['18.74875'] }),
    explanation: Type.String({ description: 'A sentence that explains the rounding.' }),
  },
  { title: 'Share' },
);

export const splitResult = {
  shares: Type.Array(shareSchema, { description: 'The shares of sub-accounts; empty for a payment without a split.' }),
  merchant_receives: amountType('What the merchant receives after the fee and the shares.'),
};

const detailFields = {
  sub_account: orNull(Type.String({ description: 'The sub-account that receives a share.' })),
  sub_account_group: orNull(Type.String({ description: 'The sub-account group that the payment is split among.' })),
  ...splitResult,
  title: orNull(Type.String()),
  description: orNull(Type.String()),
  customer: orNull(Type.String({ description: 'The customer who pays.' })),
  customer_name: orNull(Type.String()),
  customer_email: orNull(Type.String()),
  customer_phone: orNull(Type.String()),
  return_url: orNull(Type.String()),
  cancel_url: orNull(Type.String()),
  callback_url: orNull(Type.String()),
  payment_methods: orNull(Type.Array(Type.String())),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  attempts: Type.Integer({ description: 'Attempts made so far; at most 5.' }),
  late: Type.Boolean({
    description:
      'True when the payment succeeded after it had expired, failed or been cancelled. `late` of a charge ' +
      'concerns that attempt alone.',
  }),
  review: orNull(Type.String({ description: 'Why an operator has to review it.' })),
  test_mode: Type.Boolean(),
  createdAt: timeType('When it was created.'),
  updatedAt: timeType('When it last changed.'),
};

const { intent_secret: _secret, ...listedFields } = createdFields;

export const createdIntentSchema = Type.Object(createdFields, { title: 'CreatedPaymentIntent' });

export const intentSchema = Type.Object(
  {
    ...createdFields,
    ...detailFields,
    next_action: nextAction,
    transaction_id: orNull(idType('The charge that paid the intent; before that the one under way, else the newest.')),
  },
  { title: 'PaymentIntent' },
);

export const listedIntentSchema = Type.Object({ ...listedFields, ...detailFields }, { title: 'ListedPaymentIntent' });

export const previewResponseSchema = Type.Object(
  {
    amount: amountType('The amount requested by the merchant.'),
    amount_paid: amountType('What the payer pays.'),
    transaction_fee: amountType('The fee.'),
    transaction_fee_type: feePayer,
    ...splitResult,
    currency: Type.String(),
  },
  { title: 'PaymentPreview' },
);

export const timelineSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        at: timeType('When it happened.'),
        kind: Type.String(),
        transaction_id: orNull(Type.String()),
        detail: Type.String(),
      }),
    ),
  },
  { title: 'PaymentTimeline' },
);
