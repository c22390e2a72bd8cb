import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import { countGroups, findGroupById, listGroupRows, listMembers, lockGroup } from './queries.ts';
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

/** Newest first. */
export function listGroups(
  context: SubAccountContext,
  merchantId: string,
  page: PageRequest,
  term: string | undefined,
): Promise<Listed<SubAccountGroup>> {
  const { db } = context;
  const rows = async () =>
    withMembers(db, merchantId, await listGroupRows(db, merchantId, term, { ...page, rowsMax: page.limit + 1 }));
  return listed(context, merchantId, term, {
    rows,
    total: () => countGroups(db, merchantId, term, totalMax + 1),
  });
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
