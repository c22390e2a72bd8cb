import { getterOf } from '../api/get-record.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { RecordFilter } from '../api/list-filter.ts';
import type { List } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import type { Caller } from '../api/route.ts';
import { readMembers, type NamedMember } from './group-members.ts';
import {
  findGroupById,
  listGroupRows,
  listMembers,
  lockGroup,
  insertGroup,
  insertMembers,
  deleteMembers,
  updateGroupRow,
  markGroupDeleted,
  type GroupRow,
} from './queries.ts';
import type { SubAccountContext, SubAccountGroup } from './sub-account.ts';

export { findGroupOf, listGroupsOf } from './queries.ts';

const notFound = 'There is no sub-account group with this id in this environment.';

/** Throws AppError `not_found`, also for a deleted one. */
export const getGroup = getterOf(withOwnMembers(findGroupById), notFound);
const getGroupForChange = getterOf(withOwnMembers(lockGroup), notFound);

/** Newest first. Throws AppError `rate_limited` when too many searches are running. */
export async function listGroups(
  context: Pick<SubAccountContext, 'db' | 'lists'>,
  merchantId: string,
  page: PageRequest,
  filter: RecordFilter,
): Promise<List<SubAccountGroup>> {
  const list = await listGroupRows(context.lists, merchantId, page, filter);
  return { ...list, rows: await withMembers(context.db, merchantId, list.rows) };
}

function withOwnMembers(find: typeof findGroupById) {
  return async (db: Queryable, merchantId: string, id: string): Promise<SubAccountGroup | undefined> => {
    const row = await find(db, merchantId, id);
    const [group] = row ? await withMembers(db, merchantId, [row]) : [];
    return group;
  };
}

async function withMembers(db: Queryable, merchantId: string, rows: readonly GroupRow[]): Promise<SubAccountGroup[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const byGroup = Map.groupBy(await listMembers(db, merchantId, ids), ({ groupId }) => groupId);
  return rows.map((row) => ({
    ...row,
    members: (byGroup.get(row.id) ?? []).map(({ groupId: _groupId, ...member }) => member),
  }));
}

export interface NewGroup {
  name: string;
  members: readonly NamedMember[];
  /** The prefix of the fields' names in a refusal. */
  prefix: string;
}

/** Throws AppError `invalid_request` naming a member that the group cannot have. */
export async function createGroup(
  tx: Transaction,
  context: Pick<SubAccountContext, 'clock' | 'newId'>,
  caller: Caller,
  request: NewGroup,
): Promise<SubAccountGroup> {
  const { merchantId } = caller;
  const now = context.clock.now();
  const group: SubAccountGroup = {
    merchantId,
    id: context.newId(),
    name: request.name,
    members: await readMembers(tx, merchantId, request.members, `${request.prefix}members`),
    createdAt: now,
    updatedAt: now,
  };
  tx.send(insertGroup(group));
  tx.send(insertMembers(group));
  return group;
}

/** Absent fields do not change; members replace the current ones. */
export interface GroupChange {
  name?: string | undefined;
  members?: readonly NamedMember[] | undefined;
}

/**
 * Changes later payments only: existing ones keep their shares. Throws AppError `not_found`, and `invalid_request` naming a
 * member that the group cannot have.
 */
export async function updateGroup(
  tx: Transaction,
  clock: Clock,
  caller: Caller,
  request: { id: string; change: GroupChange; prefix: string },
): Promise<SubAccountGroup> {
  const { change, prefix } = request;
  const group = await getGroupForChange(tx, caller.merchantId, request.id);
  if (change.name === undefined && change.members === undefined) return group;
  const members =
    change.members === undefined
      ? group.members
      : await readMembers(tx, caller.merchantId, change.members, `${prefix}members`);
  const changed = { ...group, name: change.name ?? group.name, members, updatedAt: clock.now() };
  tx.send(updateGroupRow(changed));
  if (change.members !== undefined) {
    tx.send(deleteMembers(changed));
    tx.send(insertMembers(changed));
  }
  return changed;
}

/** The group answers 404 from now on; its members and the shares of its payments stay. Throws AppError `not_found`. */
export async function deleteGroup(tx: Transaction, clock: Clock, merchantId: string, id: string): Promise<void> {
  const group = await getGroupForChange(tx, merchantId, id);
  tx.send(deleteMembers(group));
  tx.send(markGroupDeleted(group, clock.now()));
}
