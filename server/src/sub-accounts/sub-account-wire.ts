import type { Static } from 'typebox';
import { fieldError } from '../api/app-error.ts';
import { amountToJson, percentToJson } from '../kit/money.ts';
import { notBlank, percentOf } from '../api/field-values.ts';
import type { Queryable } from '../kit/db.ts';
import type { Caller } from '../api/route.ts';
import { balancesOf } from './manage-sub-accounts.ts';
import type { Balances } from './manage-sub-accounts.ts';
import type { NamedMember } from './group-members.ts';
import type { SubAccount, SubAccountContext, SubAccountGroup } from './sub-account.ts';
import type { newGroupSchema } from './wire-schemas.ts';

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
