import { isDeepStrictEqual } from 'node:util';
import { maskedChanges } from '../../audit/masked-fields.ts';
import type { Transaction } from '../../kit/db.ts';
import { lockTerms } from '../../merchants/manage-rules.ts';
import { changedMeanwhile } from '../../portal/patterns/form-page.ts';
import { audit, type OwnAction } from '../patterns/act.ts';
import type { Visit } from '../visit.ts';

interface SettingChange extends Omit<OwnAction, 'object'> {
  /** What `before` is by now. */
  current(tx: Transaction): Promise<OwnAction['before']>;
}

/**
 * Changes a setting of this environment's merchant, or one of the business that counts in both, with its audit entry in the same
 * transaction. What is as it was already is not done. Of two people who were shown the same, one does it; for the other it throws
 * `changedMeanwhile`.
 */
export async function changeSetting(
  visit: Visit,
  { current, before, after, isForBoth = false, action }: SettingChange,
  effect: (tx: Transaction) => unknown,
): Promise<void> {
  const { id, businessId } = visit.merchant;
  const object = isForBoth ? { type: 'business', id: businessId } : { type: 'settings', id };
  await visit.accounts.db.withTransaction(async (tx) => {
    await lockTerms(tx);
    const found = await current(tx);
    if (isDeepStrictEqual(found, after)) return;
    if (!isDeepStrictEqual(found, before)) throw changedMeanwhile;
    await effect(tx);
    audit(tx, visit, { action, object, isForBoth, changes: maskedChanges(after, before) });
  });
}
