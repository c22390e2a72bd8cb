import { fieldError, type AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { lockGroupForSplit, lockSubAccountForSplit, type SplitMemberRow } from './queries.ts';
import type { SplitMember } from './shares.ts';

/** The split of a payment as the request names it; `paths` are the fields that a refusal names. */
export interface SplitRequest {
  subAccountId: string | null;
  groupId: string | null;
  paths: { subAccount: string; group: string };
}

/**
 * The members of a payment's split with their percentages; empty where the request names none. In a transaction they are
 * locked against deletion until it ends, so a deletion sees the payment.
 *
 * Throws AppError `invalid_request` naming the field for an unknown id and for a request with both fields, and
 * `sub_account_paused`.
 */
export async function resolveSplit(db: Queryable, merchantId: string, request: SplitRequest): Promise<SplitMember[]> {
  const { subAccountId, groupId, paths } = request;
  if (subAccountId !== null && groupId !== null) {
    const message = 'Send a sub_account or a sub_account_group, one of the two.';
    throw fieldError('invalid_request', paths.group, message);
  }
  if (subAccountId !== null) return resolveSubAccount(db, merchantId, { id: subAccountId, path: paths.subAccount });
  if (groupId !== null) return resolveGroup(db, merchantId, { id: groupId, path: paths.group });
  return [];
}

interface Named {
  id: string;
  path: string;
}

async function resolveSubAccount(db: Queryable, merchantId: string, { id, path }: Named): Promise<SplitMember[]> {
  const row = isUuid(id) ? await lockSubAccountForSplit(db, merchantId, id) : undefined;
  if (!row) throw fieldError('invalid_request', path, 'There is no sub-account with this id in this environment.');
  if (!row.active) {
    const message = `The sub-account ${row.name} is paused. Set its active to true, or leave ${path} out.`;
    throw paused(path, message);
  }
  return [memberOf(row)];
}

async function resolveGroup(db: Queryable, merchantId: string, { id, path }: Named): Promise<SplitMember[]> {
  const rows = isUuid(id) ? await lockGroupForSplit(db, merchantId, id) : [];
  // A group has at least one member, so no row is no group.
  if (rows.length === 0) {
    throw fieldError('invalid_request', path, 'There is no sub-account group with this id in this environment.');
  }
  const pausedMember = rows.find(({ active }) => !active);
  if (pausedMember) {
    const message = `The group’s member ${pausedMember.name} (${pausedMember.subAccountId}) is paused. Set its active to true, or remove it from the group.`;
    throw paused(path, message);
  }
  return rows.map(memberOf);
}

function memberOf({ subAccountId, percentHundredths }: SplitMemberRow): SplitMember {
  return { subAccountId, percentHundredths };
}

function paused(path: string, message: string): AppError {
  return fieldError('sub_account_paused', path, message);
}
