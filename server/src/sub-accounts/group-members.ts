import { fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { percentToJson, wholePercent } from '../kit/money.ts';
import { lockNewMembers } from './queries.ts';
import type { GroupMember } from './sub-account.ts';

/** A member as a request names it. */
export interface NamedMember {
  subAccountId: string;
  percentHundredths: bigint;
}

/** Limited because each share of a payment is a movement and a row of its own. */
export const membersMax = 20;

/**
 * The members with their names, locked against deletion until the transaction ends. `path` is the list's. Throws AppError
 * `invalid_request` naming a member that appears twice or is no sub-account of this merchant, or the list when its
 * percentages sum to more than 100.
 */
export async function readMembers(
  tx: Transaction,
  merchantId: string,
  members: readonly NamedMember[],
  path: string,
): Promise<GroupMember[]> {
  const refuse = (index: number, message: string) =>
    fieldError('invalid_request', `${path}.${index}.sub_account`, message);
  const ids = members.map(({ subAccountId }) => subAccountId.toLowerCase());
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (repeated !== -1) throw refuse(repeated, `A group contains a sub-account once. Remove ${ids[repeated]} here.`);
  checkPercentages(members, path);
  const found = await lockNewMembers(tx, merchantId, ids.filter(isUuid));
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return members.map(({ percentHundredths }, index) => {
    const subAccountId = ids[index] ?? '';
    const name = names.get(subAccountId);
    if (name === undefined) throw refuse(index, 'There is no sub-account with this id in this environment.');
    return { subAccountId, name, percentHundredths };
  });
}

/** Throws AppError `invalid_request` naming `path`, the list's, when the percentages sum to more than 100. */
export function checkPercentages(members: readonly NamedMember[], path: string): void {
  const sum = members.reduce((total, { percentHundredths }) => total + percentHundredths, 0n);
  if (sum <= wholePercent) return;
  const message = `The percentages sum to ${percentToJson(sum)}; they may sum to at most 100.`;
  throw fieldError('invalid_request', path, message);
}
