import Type from 'typebox';
import { aliasOf, amountType, idType, textType, timeType } from '../kit/wire-types.ts';
import { membersMax } from './group-members.ts';

const nameLengthMax = 200;
const phoneLengthMax = 32;

const nameType = textType('Who it is.', nameLengthMax);
const percentageType = (description: string) =>
  Type.Number({ description: `${description} Above 0, at most 100, at most two decimals.`, examples: [20, 12.5] });
const settlementCodeType = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'The network that pays them out, such as `wave`.',
});
const accountNumberType = Type.Union(
  [Type.String({ minLength: 1, maxLength: phoneLengthMax }), Type.Integer({ minimum: 1 })],
  { description: 'Their number there, in any usual form, as text or as a number.' },
);
const sharePercentage = percentageType('The part of each payment that they get.');

export const newSubAccountSchema = Type.Object(
  {
    name: Type.Optional(nameType),
    business_name: aliasOf('name', textType('Accepted for `name`; send one of the two.', nameLengthMax)),
    percentage: sharePercentage,
    settlement_code: settlementCodeType,
    account_number: accountNumberType,
  },
  {
    additionalProperties: false,
    // A name is required too, under one of its two names.
    examples: [{ name: 'Awa Ceesay', percentage: 12.5, settlement_code: 'wave', account_number: '7012345' }],
  },
);

export const subAccountChangeSchema = Type.Object(
  {
    name: Type.Optional(nameType),
    business_name: newSubAccountSchema.properties.business_name,
    percentage: Type.Optional(sharePercentage),
    settlement_code: Type.Optional(settlementCodeType),
    account_number: Type.Optional(accountNumberType),
    active: Type.Optional(Type.Boolean({ description: 'False pauses it: new payments that use it are refused.' })),
  },
  { additionalProperties: false },
);

export const subAccountSchema = Type.Object(
  {
    id: idType('The sub-account.'),
    name: Type.String(),
    percentage: sharePercentage,
    settlement_code: Type.String({ description: 'The network that pays them out.' }),
    account_number: Type.String({ description: 'As it was sent.' }),
    active: Type.Boolean({ description: 'False while it is paused.' }),
    balance: amountType('What it has: settled, and waiting for settlement.'),
    owed_balance: Type.Optional(
      amountType('What you advanced for it. Its next money repays it first; left out while it owes nothing.'),
    ),
    currency: Type.String(),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'SubAccount' },
);

const groupName = textType('What the group is called.', nameLengthMax);
const membersType = Type.Array(
  Type.Object(
    {
      sub_account: idType('A sub-account of yours.'),
      percentage: percentageType('Its part of each payment of this group, whatever it gets elsewhere.'),
    },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    maxItems: membersMax,
    description: 'Who shares; each sub-account once, percentages summing to at most 100.',
  },
);

export const newGroupSchema = Type.Object({ name: groupName, members: membersType }, { additionalProperties: false });

export const groupChangeSchema = Type.Object(
  { name: Type.Optional(groupName), members: Type.Optional(membersType) },
  { additionalProperties: false },
);

export const groupSchema = Type.Object(
  {
    id: idType('The group.'),
    name: Type.String(),
    members: Type.Array(
      Type.Object({
        sub_account: idType('The sub-account.'),
        name: Type.String({ description: 'The sub-account’s name.' }),
        percentage: percentageType('Its part of each payment of this group.'),
      }),
    ),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'SubAccountGroup' },
);
