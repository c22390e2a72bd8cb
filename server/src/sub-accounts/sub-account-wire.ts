import Type, { type Static } from 'typebox';
import { fieldError } from '../api/app-error.ts';
import { notBlank, percentOf } from '../api/field-values.ts';
import type { Caller } from '../api/route.ts';
import { aliasOf, amountType, idType, textType, timeType } from '../api/wire-types.ts';
import type { Queryable } from '../kit/db.ts';
import { amountToJson, percentToJson } from '../kit/money.ts';
import { membersMax, type NamedMember } from './group-members.ts';
import { balancesOf, type Balances } from './manage-sub-accounts.ts';
import type { SubAccount, SubAccountContext, SubAccountGroup } from './sub-account.ts';

/** The sub-account as the API answers it, with its balances as `db` sees them. */
export async function readSubAccountWire(
  merchants: SubAccountContext['merchants'],
  db: Queryable,
  caller: Caller,
  subAccount: SubAccount,
) {
  return subAccountToWire(caller, subAccount, await balancesOf(merchants, db, caller.merchantId, [subAccount]));
}

/** `owed_balance` is present only while it is above zero. */
export function subAccountToWire(caller: Caller, subAccount: SubAccount, balances: Balances) {
  const owedMinor = balances.owedBy(subAccount.id);
  return {
    id: subAccount.id,
    name: subAccount.name,
    percentage: percentToJson(subAccount.percentHundredths),
    settlement_code: subAccount.settlementCode,
    account_number: subAccount.accountNumber,
    active: subAccount.active,
    balance: amountToJson(balances.of(subAccount.id)),
    ...(owedMinor > 0n && { owed_balance: amountToJson(owedMinor) }),
    currency: balances.currency,
    test_mode: caller.testMode,
    createdAt: subAccount.createdAt.toISOString(),
    updatedAt: subAccount.updatedAt.toISOString(),
  };
}

export function groupToWire(caller: Caller, group: SubAccountGroup) {
  return {
    id: group.id,
    name: group.name,
    members: group.members.map((member) => ({
      sub_account: member.subAccountId,
      name: member.name,
      percentage: percentToJson(member.percentHundredths),
    })),
    test_mode: caller.testMode,
    createdAt: group.createdAt.toISOString(),
    updatedAt: group.updatedAt.toISOString(),
  };
}

/** `name` or its alias `business_name`; undefined where neither was sent. */
export function nameOf(fields: { name?: string; business_name?: string }, prefix: string): string | undefined {
  if (fields.name !== undefined && fields.business_name !== undefined) {
    const message = `Send ${prefix}name or ${prefix}business_name, one of the two.`;
    throw fieldError('invalid_request', `${prefix}business_name`, message);
  }
  if (fields.business_name !== undefined) return notBlank(fields.business_name, `${prefix}business_name`);
  return fields.name === undefined ? undefined : notBlank(fields.name, `${prefix}name`);
}

type Members = Static<typeof newGroupSchema>['members'];

export function membersOf(members: Members, prefix: string): NamedMember[] {
  return members.map((member, index) => ({
    subAccountId: member.sub_account,
    percentHundredths: percentOf(member.percentage, `${prefix}members.${index}.percentage`),
  }));
}

const nameLengthMax = 200;
const accountNumberLengthMax = 32;

const nameType = textType('The sub-account’s name.', nameLengthMax);
const percentageType = (description: string) =>
  Type.Number({ description: `${description} Above 0, at most 100, at most two decimals.`, examples: [20, 12.5] });
const settlementCodeType = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'The network of its payouts, such as `wave`.',
});
const accountNumberType = Type.Union(
  [Type.String({ minLength: 1, maxLength: accountNumberLengthMax }), Type.Integer({ minimum: 1 })],
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
