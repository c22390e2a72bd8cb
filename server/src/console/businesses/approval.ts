import { AppError } from '../../api/app-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Queryable, Transaction } from '../../kit/db.ts';
import { approveLive } from '../../merchants/business-status.ts';
import { deleteBusinessCheck, insertBusinessCheck, listBusinessChecks } from '../queries.ts';

/** What has to be checked before a business takes real money. */
export const checklist = {
  identity: 'The owner’s identity document was seen',
  registration: 'The business is registered, or its trade is known',
  contact: 'Phone number and address were called and visited',
  terms: 'Fees and limits are agreed in writing',
  test_payment: 'A test payment arrived in the test environment',
} as const;

export type CheckItem = keyof typeof checklist;
export const checkItems = Object.keys(checklist) as CheckItem[];

/** Ticks what is named and was not ticked, and takes back what is not named any more. */
export async function saveChecks(
  tx: Transaction,
  { clock }: { clock: Clock },
  { businessId, operatorId, ticked }: { businessId: string; operatorId: string; ticked: ReadonlySet<string> },
): Promise<void> {
  const before = new Set((await listBusinessChecks(tx, businessId)).map(({ item }) => item));
  for (const item of checkItems) {
    if (ticked.has(item) && !before.has(item)) {
      tx.send(insertBusinessCheck(businessId, { item, checkedBy: operatorId, checkedAt: clock.now() }));
    } else if (!ticked.has(item) && before.has(item)) tx.send(deleteBusinessCheck(businessId, item));
  }
}

/** What nobody has ticked yet, in words. */
export async function listMissingChecks(db: Queryable, businessId: string): Promise<string[]> {
  const checks = await listBusinessChecks(db, businessId);
  return checkItems.filter((item) => !checks.some((check) => check.item === item)).map((item) => checklist[item]);
}

/**
 * Lets a business take real money, by an operator who ticked nothing on its checklist: nobody approves what they prepared.
 * Throws AppError `state_conflict`.
 */
export async function approveBusiness(
  tx: Transaction,
  context: { clock: Clock },
  { businessId, operatorId }: { businessId: string; operatorId: string },
): Promise<void> {
  const checks = await listBusinessChecks(tx, businessId);
  const missing = await listMissingChecks(tx, businessId);
  if (missing.length > 0) throw new AppError('state_conflict', `Not checked yet: ${missing.join('; ')}.`);
  if (checks.some(({ checkedBy }) => checkedBy === operatorId)) {
    throw new AppError('state_conflict', 'You ticked the checklist yourself. Another operator has to approve it.');
  }
  await approveLive(tx, context, businessId);
}
