import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { List } from '../kit/list-reader.ts';
import type { PageRequest } from '../kit/pagination.ts';
import { findGroupById, listGroupRows, listMembers, lockGroup } from './queries.ts';
import type { GroupRow } from './queries.ts';
import type { SubAccountContext, SubAccountGroup } from './sub-account.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getGroup(db: Queryable, merchantId: string, id: string): Promise<SubAccountGroup> {
  return withOwnMembers(db, isUuid(id) ? await findGroupById(db, merchantId, id) : undefined);
}

/** The same, and nobody else changes it before the transaction ends. */
export async function getGroupForChange(tx: Transaction, merchantId: string, id: string): Promise<SubAccountGroup> {
  return withOwnMembers(tx, isUuid(id) ? await lockGroup(tx, merchantId, id) : undefined);
}

/** Newest first. Throws AppError `rate_limited` when too many searches are running. */
export async function listGroups(
  context: Pick<SubAccountContext, 'db' | 'lists'>,
  merchantId: string,
  page: PageRequest,
  term: string | undefined,
): Promise<List<SubAccountGroup>> {
  const list = await listGroupRows(context.lists, merchantId, page, term);
  return { ...list, rows: await withMembers(context.db, merchantId, list.rows) };
}

async function withOwnMembers(db: Queryable, row: GroupRow | undefined): Promise<SubAccountGroup> {
  const [group] = row ? await withMembers(db, row.merchantId, [row]) : [];
  if (group) return group;
  throw new AppError('not_found', 'There is no sub-account group with this id in this environment.');
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
