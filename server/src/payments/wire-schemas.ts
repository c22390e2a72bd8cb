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
      urlType('Where the payer returns after paying, with `payment_intent_id` and `status` in the query.'),
    ),
    cancel_url: optional(urlType('Where the payer returns after cancelling.')),
    callback_url: optional(urlType('Receives the events of this payment, in addition to your webhook endpoints.')),
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

const feePayer = Type.Union([Type.Literal('business'), Type.Literal('customer')], {
  description: 'Who pays the fee.',
});

const intentStatus = Type.Union(
  ['requires_payment_method', 'processing', 'successful', 'failed', 'cancelled', 'expired'].map((status) =>
    Type.Literal(status),
  ),
);

const chargeStatus = Type.Union(
  ['pending', 'completed', 'failed', 'cancelled', 'refunded', 'reversed'].map((status) => Type.Literal(status)),
);

const nextAction = orNull(
  Type.Union(
    [
      Type.Object({ type: Type.Literal('open_url'), url: Type.String() }),
      Type.Object({ type: Type.Literal('approve_on_phone') }),
      Type.Object({ type: Type.Literal('approve_then_confirm') }),
      Type.Object({ type: Type.Literal('enter_code'), length: Type.Integer() }),
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

const splitResult = {
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
    transaction_id: orNull(idType('The charge that paid the intent, or its newest charge.')),
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
