import Type from 'typebox';
import {
  amountType,
  currencyType,
  idType,
  metadataType,
  optional,
  orNull,
  textType,
  timeType,
  urlType,
} from '../api/wire-types.ts';
import { splitFields } from '../payments/intent-wire.ts';

const titleLengthMax = 200;
const labelsMax = 10;
const labelLengthMax = 40;

const titleType = textType('The title shown to the payer.', titleLengthMax);

export const linkStatusType = Type.Union([Type.Literal('active'), Type.Literal('inactive')], {
  description: 'The page of an inactive link accepts no payments.',
});

const newFields = {
  amount: optional(amountType('The amount each payer pays; leave it out to let the payer enter one.')),
  min_amount: optional(amountType('The smallest amount a payer may enter, for a link without an amount.')),
  currency: currencyType,
  description: optional(textType('The description shown to the payer.')),
  metadata: optional(metadataType),
  redirect_url: optional(
    urlType('Where the payer returns after paying, with `payment_intent_id` and `status` in the query.'),
  ),
  cancel_url: optional(urlType('Where the payer returns after cancelling.')),
  custom_fields: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: labelLengthMax }), {
      minItems: 1,
      maxItems: labelsMax,
      description:
        'Labels of fields that the payer may fill in, each once; the answers are in `custom_fields_values` ' +
        'of the charge.',
      examples: [['Student', 'Class']],
    }),
  ),
  ...splitFields,
};

export const newLinkSchema = Type.Object(
  { title: titleType, ...newFields, metadata: optional(metadataType, { default: {} }) },
  { additionalProperties: false },
);

export const linkChangeSchema = Type.Object(
  { title: Type.Optional(titleType), ...newFields, status: Type.Optional(linkStatusType) },
  { additionalProperties: false },
);

export const linkSchema = Type.Object(
  {
    id: idType('The link.'),
    url: Type.String({ description: 'The URL of its hosted page. Send it to the payer.' }),
    title: Type.String(),
    description: orNull(Type.String()),
    amount: orNull(amountType('The amount each payer pays; null if the payer enters it.')),
    min_amount: orNull(amountType('The smallest amount a payer may enter.')),
    currency: Type.String(),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Copied to every charge of the link.' }),
    redirect_url: orNull(Type.String()),
    cancel_url: orNull(Type.String()),
    custom_fields: Type.Array(Type.String(), { description: 'Labels of the fields that the payer may fill in.' }),
    sub_account: orNull(Type.String({ description: 'The sub-account that receives a share of its payments.' })),
    sub_account_group: orNull(Type.String({ description: 'The sub-account group that its payments are split among.' })),
    status: linkStatusType,
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'PaymentLink' },
);
