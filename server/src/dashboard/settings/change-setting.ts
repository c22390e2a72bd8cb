import type { Transaction } from '../../kit/db.ts';
import { change, type OwnAction } from '../patterns/act.ts';
import type { Visit } from '../visit.ts';

/** Changes a setting of this environment's merchant, or one of the business that counts in both, as `change` does. */
export function changeSetting(
  visit: Visit,
  { isForBoth = false, ...words }: Omit<OwnAction, 'object'>,
  effect: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  const { id, businessId } = visit.merchant;
  const object = isForBoth ? { type: 'business', id: businessId } : { type: 'settings', id };
  return change(visit, { ...words, object, isForBoth }, effect);
}
