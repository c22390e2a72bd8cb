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
} from '../kit/wire-types.ts';
import { splitFields } from '../payments/wire-schemas.ts';

const titleLengthMax = 200;
const labelsMax = 10;
const labelLengthMax = 40;

const titleType = textType('What is paid for, shown to the payer.', titleLengthMax);

export const linkStatusType = Type.Union([Type.Literal('active'), Type.Literal('inactive')], {
  description: 'The page of an inactive link says so and takes no money.',
});

const newFields = {
  amount: optional(amountType('What each payer pays; without it the payer enters the amount.')),
  min_amount: optional(amountType('The least that a payer may enter, where the link has no amount.')),
  currency: currencyType,
  description: optional(textType('More about it, shown to the payer.')),
  metadata: optional(metadataType),
  redirect_url: optional(urlType('Where the payer returns after paying; gets `payment_intent_id` and `status`.')),
  cancel_url: optional(urlType('Where the payer returns after cancelling.')),
  custom_fields: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: labelLengthMax }), {
      minItems: 1,
      maxItems: labelsMax,
      description:
        'Labels that the payer may fill in, each once; the answers are in the charge’s `custom_fields_values`.',
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
    url: Type.String({ description: 'Its page: send it to whoever is to pay.' }),
    title: Type.String(),
    description: orNull(Type.String()),
    amount: orNull(amountType('What each payer pays; null where the payer enters the amount.')),
    min_amount: orNull(amountType('The least that a payer may enter.')),
    currency: Type.String(),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Every charge through the link has it.' }),
    redirect_url: orNull(Type.String()),
    cancel_url: orNull(Type.String()),
    custom_fields: Type.Array(Type.String(), { description: 'Labels that the payer may fill in.' }),
    sub_account: orNull(Type.String({ description: 'The sub-account that its payments are shared with.' })),
    sub_account_group: orNull(Type.String({ description: 'The group that they are shared with.' })),
    status: linkStatusType,
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'PaymentLink' },
);
