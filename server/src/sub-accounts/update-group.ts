import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { getGroupForChange } from './find-group.ts';
import { readMembers } from './group-members.ts';
import type { NamedMember } from './group-members.ts';
import { deleteMembers, insertMembers, updateGroupRow } from './queries.ts';
import type { SubAccountContext, SubAccountGroup } from './sub-account.ts';

/** What is left out stays as it is; members are replaced by the ones that are sent. */
export interface GroupChange {
  name?: string | undefined;
  members?: readonly NamedMember[] | undefined;
}

/**
 * For later payments only: the shares of those that exist are fixed on them. Throws AppError `not_found`, and
 * `invalid_request` naming the member that cannot be one.
 */
export async function updateGroup(
  tx: Transaction,
  context: SubAccountContext,
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
  const changed = { ...group, name: change.name ?? group.name, members, updatedAt: context.clock.now() };
  tx.send(updateGroupRow(changed));
  if (change.members !== undefined) {
    tx.send(deleteMembers(changed));
    tx.send(insertMembers(changed));
  }
  return changed;
}
