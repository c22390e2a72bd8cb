import Type from 'typebox';
import { aliasOf, amountType, idType, textType, timeType } from '../api/wire-types.ts';
import { membersMax } from './group-members.ts';

const nameLengthMax = 200;
const phoneLengthMax = 32;

const nameType = textType('The customer’s name.', nameLengthMax);
const percentageType = (description: string) =>
  Type.Number({ description: `${description} Above 0, at most 100, at most two decimals.`, examples: [20, 12.5] });
const settlementCodeType = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'The network of its payouts, such as `wave`.',
});
const accountNumberType = Type.Union(
  [Type.String({ minLength: 1, maxLength: phoneLengthMax }), Type.Integer({ minimum: 1 })],
  { description: 'Its account number at that network, in any usual form, as a string or a number.' },
);
const sharePercentage = percentageType('The percentage of each payment.');

export const newSubAccountSchema = Type.Object(
  {
    name: Type.Optional(nameType),
    business_name: aliasOf('name', textType('Use `name` instead; send only one of the two.', nameLengthMax)),
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
    active: Type.Optional(
      Type.Boolean({ description: 'False pauses the sub-account: new payments that name it are refused.' }),
    ),
  },
  { additionalProperties: false },
);

export const subAccountSchema = Type.Object(
  {
    id: idType('The sub-account.'),
    name: Type.String(),
    percentage: sharePercentage,
    settlement_code: Type.String({ description: 'The network of its payouts.' }),
    account_number: Type.String({ description: 'As you sent it.' }),
    active: Type.Boolean({ description: 'False while the sub-account is paused.' }),
    balance: amountType('Its balance, settled and pending together.'),
    owed_balance: Type.Optional(
      amountType('What it owes you for advances. Its next shares repay it first. Absent if it owes nothing.'),
    ),
    currency: Type.String(),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'SubAccount' },
);

const groupName = textType('The name of the group.', nameLengthMax);
const membersType = Type.Array(
  Type.Object(
    {
      sub_account: idType('One of your sub-accounts.'),
      percentage: percentageType('Its percentage of each payment of this group, whatever its own percentage is.'),
    },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    maxItems: membersMax,
    description: 'The members; each sub-account once, with percentages that sum to at most 100.',
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
        percentage: percentageType('Its percentage of each payment of this group.'),
      }),
    ),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'SubAccountGroup' },
);
