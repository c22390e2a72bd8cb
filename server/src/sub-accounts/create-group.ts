import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { readMembers } from './group-members.ts';
import type { NamedMember } from './group-members.ts';
import { insertGroup, insertMembers } from './queries.ts';
import type { SubAccountContext, SubAccountGroup } from './sub-account.ts';

export interface NewGroup {
  name: string;
  members: readonly NamedMember[];
  /** What leads the fields' names in a refusal. */
  prefix: string;
}

/** Throws AppError `invalid_request` naming the member that cannot be one. */
export async function createGroup(
  tx: Transaction,
  context: SubAccountContext,
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
