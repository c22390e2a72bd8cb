import type { Statement } from '../kit/db.ts';
import { rowsBy, statementBy } from '../kit/run-statement.ts';
import { recordConditions, type RecordFilter } from '../api/list-filter.ts';
import { finderOf } from '../api/find-record.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import type { GroupMember, SubAccount, SubAccountGroup } from './sub-account.ts';

const columns = `merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  destination_changed_at AS "destinationChangedAt", active, created_at AS "createdAt", updated_at AS "updatedAt"`;

export const insertSubAccount = statementBy<[subAccount: SubAccount]>({
  name: 'sub_accounts_insert',
  text: `INSERT INTO sub_accounts (merchant_id, id, name, percent_hundredths, settlement_code, account_number,
           account_canonical, active, created_at, updated_at, deleted_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)`,
  values: (subAccount) => [
    subAccount.merchantId,
    subAccount.id,
    ...changeable(subAccount),
    subAccount.createdAt,
    subAccount.updatedAt,
  ],
});

/** Writes what can change; the caller holds the row's lock. */
export const updateSubAccountRow = statementBy<[subAccount: SubAccount]>({
  name: 'sub_accounts_update',
  text: `UPDATE sub_accounts
         SET name = $3, percent_hundredths = $4, settlement_code = $5, account_number = $6, account_canonical = $7,
             active = $8, updated_at = $9, destination_changed_at = $10
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (subAccount) => [
    subAccount.merchantId,
    subAccount.id,
    ...changeable(subAccount),
    subAccount.updatedAt,
    subAccount.destinationChangedAt,
  ],
});

/** What can change: parameters 3 to 8 of both statements. */
function changeable(subAccount: SubAccount): unknown[] {
  const { name, percentHundredths, settlementCode, accountNumber, accountCanonical, active } = subAccount;
  return [name, percentHundredths, settlementCode, accountNumber, accountCanonical, active];
}

/** From the commit on it answers 404; the row stays for the history. The caller holds its lock. */
export const markSubAccountDeleted = statementBy<[key: { merchantId: string; id: string }, deletedAt: Date]>({
  name: 'sub_accounts_mark_deleted',
  text: `UPDATE sub_accounts SET deleted_at = $3, updated_at = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (key, deletedAt) => [key.merchantId, key.id, deletedAt],
});

export const findSubAccountById = finderOf<SubAccount>({
  name: 'sub_accounts_find',
  text: `SELECT ${columns} FROM sub_accounts WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
});

/** Sub-accounts whose payouts would go through none of these networks, oldest first. */
export const listSubAccountsWithoutNetwork = rowsBy<
  SubAccount,
  [merchantId: string, { networks: readonly string[]; rowsMax: number }]
>({
  name: 'sub_accounts_list_without_network',
  text: `SELECT ${columns} FROM sub_accounts
         WHERE merchant_id = $1 AND deleted_at IS NULL AND settlement_code <> ALL ($2::text[]) ORDER BY id LIMIT $3`,
  values: (merchantId, { networks, rowsMax }) => [merchantId, networks, rowsMax],
});

/** The names of these sub-accounts, of deleted ones too: their payments still show them. */
export const listSubAccountNames = rowsBy<{ id: string; name: string }, [merchantId: string, ids: readonly string[]]>({
  name: 'sub_accounts_list_names',
  text: 'SELECT id, name FROM sub_accounts WHERE merchant_id = $1 AND id = ANY ($2::uuid[])',
});

/** Changes of one sub-account happen one after the other; payments that use it do not wait for them. */
export const lockSubAccountForChange = finderOf<SubAccount>({
  name: 'sub_accounts_lock_for_change',
  text: `SELECT ${columns} FROM sub_accounts
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

/** Waits for transactions that are attaching it to a payment or a group, and makes later ones wait. */
export const lockSubAccountForDeletion = finderOf<SubAccount>({
  name: 'sub_accounts_lock_for_deletion',
  text: `SELECT ${columns} FROM sub_accounts
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
});

const searchColumns = ['name', 'account_number', 'account_canonical', 'settlement_code', 'id::text'];
const groupSearchColumns = ['name', 'id::text'];

const subAccountList: ListSource<SubAccount> = {
  name: 'sub_accounts',
  select: `SELECT ${columns} FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL`,
};

/** Newest first. */
export const listSubAccounts = listOf(subAccountList, (filter: RecordFilter) =>
  recordConditions('sub_accounts', filter, searchColumns),
);

/** A sub-account as a payment needs it. */
export interface SplitMemberRow {
  subAccountId: string;
  name: string;
  active: boolean;
  percentHundredths: bigint;
}

/** Locks it against deletion until the transaction ends; other changes go through, for later payments. */
export const lockSubAccountForSplit = finderOf<SplitMemberRow>({
  name: 'sub_accounts_lock_for_split',
  text: `SELECT id AS "subAccountId", name, active, percent_hundredths AS "percentHundredths" FROM sub_accounts
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE`,
});

/** The group's members in their order, with its percentages, locked against deletion until the transaction ends. */
export const lockGroupForSplit = rowsBy<SplitMemberRow, [merchantId: string, groupId: string]>({
  name: 'sub_account_groups_lock_for_split',
  text: `SELECT members.sub_account_id AS "subAccountId", sub_accounts.name, sub_accounts.active,
           members.percent_hundredths AS "percentHundredths"
         FROM sub_account_groups AS groups
         JOIN sub_account_group_members AS members
           ON members.merchant_id = groups.merchant_id AND members.group_id = groups.id
         JOIN sub_accounts
           ON sub_accounts.merchant_id = members.merchant_id AND sub_accounts.id = members.sub_account_id
         WHERE groups.merchant_id = $1 AND groups.id = $2 AND groups.deleted_at IS NULL
         ORDER BY members.position
         FOR KEY SHARE OF sub_accounts`,
});

// Groups --------------------------------------------------------------------------------------------------------------

/** A group without its members. */
export type GroupRow = Omit<SubAccountGroup, 'members'>;

export type MemberRow = GroupMember & { groupId: string };

const groupColumns = `merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt"`;

export const insertGroup = statementBy<[group: GroupRow]>({
  name: 'sub_account_groups_insert',
  text: `INSERT INTO sub_account_groups (merchant_id, id, name, created_at, updated_at, deleted_at)
         VALUES ($1, $2, $3, $4, $5, NULL)`,
  values: (group) => [group.merchantId, group.id, group.name, group.createdAt, group.updatedAt],
});

/** In their order; each sub-account once. */
export function insertMembers(group: Pick<SubAccountGroup, 'merchantId' | 'id' | 'members'>): Statement {
  const { merchantId, id, members } = group;
  const rows = members.map((_, index) => `($1, $2, $${3 * index + 3}, $${3 * index + 4}, $${3 * index + 5})`);
  return {
    name: `sub_account_group_members_insert_${members.length}`,
    text: `INSERT INTO sub_account_group_members (merchant_id, group_id, position, sub_account_id, percent_hundredths)
           VALUES ${rows.join(', ')}`,
    values: [
      merchantId,
      id,
      ...members.flatMap((member, index) => [index, member.subAccountId, member.percentHundredths]),
    ],
  };
}

export const deleteMembers = statementBy<[key: { merchantId: string; id: string }]>({
  name: 'sub_account_group_members_delete',
  text: 'DELETE FROM sub_account_group_members WHERE merchant_id = $1 AND group_id = $2',
  values: (key) => [key.merchantId, key.id],
});

/** Writes what can change; the caller holds the row's lock. */
export const updateGroupRow = statementBy<[group: GroupRow]>({
  name: 'sub_account_groups_update',
  text: `UPDATE sub_account_groups SET name = $3, updated_at = $4
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (group) => [group.merchantId, group.id, group.name, group.updatedAt],
});

/** The row stays for its payments. */
export const markGroupDeleted = statementBy<[key: { merchantId: string; id: string }, deletedAt: Date]>({
  name: 'sub_account_groups_mark_deleted',
  text: `UPDATE sub_account_groups SET deleted_at = $3, updated_at = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (key, deletedAt) => [key.merchantId, key.id, deletedAt],
});

export const findGroupById = finderOf<GroupRow>({
  name: 'sub_account_groups_find',
  text: `SELECT ${groupColumns} FROM sub_account_groups
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
});

/** Changes of one group happen one after the other. */
export const lockGroup = finderOf<GroupRow>({
  name: 'sub_account_groups_lock',
  text: `SELECT ${groupColumns} FROM sub_account_groups
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

/** The members of these groups, each group's in its order. */
export const listMembers = rowsBy<MemberRow, [merchantId: string, groupIds: readonly string[]]>({
  name: 'sub_account_group_members_list',
  text: `SELECT members.group_id AS "groupId", members.sub_account_id AS "subAccountId", sub_accounts.name,
           members.percent_hundredths AS "percentHundredths"
         FROM sub_account_group_members AS members
         JOIN sub_accounts
           ON sub_accounts.merchant_id = members.merchant_id AND sub_accounts.id = members.sub_account_id
         WHERE members.merchant_id = $1 AND members.group_id = ANY ($2::uuid[])
         ORDER BY members.group_id, members.position`,
});

/** The merchant's sub-accounts among the ids, locked against deletion until the transaction ends. */
export const lockNewMembers = rowsBy<{ id: string; name: string }, [merchantId: string, ids: readonly string[]]>({
  name: 'sub_accounts_lock_members_to_be',
  text: `SELECT id, name FROM sub_accounts
         WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE`,
});

/** The oldest group that contains the sub-account, or undefined. */
export const findGroupOf = finderOf<{ id: string; name: string }>({
  name: 'sub_account_groups_find_of',
  text: `SELECT groups.id, groups.name FROM sub_account_group_members AS members
         JOIN sub_account_groups AS groups
           ON groups.merchant_id = members.merchant_id AND groups.id = members.group_id
         WHERE members.merchant_id = $1 AND members.sub_account_id = $2 ORDER BY groups.id LIMIT 1`,
});

/** The groups that contain the sub-account, the oldest first. */
export const listGroupsOf = rowsBy<
  { id: string; name: string; percentHundredths: bigint },
  [merchantId: string, subAccountId: string, rowsMax: number]
>({
  name: 'sub_account_groups_list_of',
  text: `SELECT groups.id, groups.name, members.percent_hundredths AS "percentHundredths"
         FROM sub_account_group_members AS members
         JOIN sub_account_groups AS groups
           ON groups.merchant_id = members.merchant_id AND groups.id = members.group_id
         WHERE members.merchant_id = $1 AND members.sub_account_id = $2 ORDER BY groups.id LIMIT $3`,
});

const groupList: ListSource<GroupRow> = {
  name: 'sub_account_groups',
  select: `SELECT ${groupColumns} FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL`,
};

/** Newest first. */
export const listGroupRows = listOf(groupList, (filter: RecordFilter) =>
  recordConditions('sub_account_groups', filter, groupSearchColumns),
);

/**
 * Locks them against deletion until the transaction ends; payments, refunds and changes of them do not wait for each other.
 * Waits for a deletion in progress and returns its result.
 */
export const lockSubAccountsForShares = rowsBy<
  { id: string; deletedAt: Date | null },
  [merchantId: string, ids: readonly string[]]
>({
  name: 'sub_accounts_lock_for_shares',
  text: `SELECT id, deleted_at AS "deletedAt" FROM sub_accounts
         WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR KEY SHARE`,
  values: (merchantId, ids) => [merchantId, [...ids]],
});
