import type { Queryable } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { findUnmatchedHold } from './queries.ts';

/** The first amount that is held for no pending transfer, or is missing for one, as a message; null where all match. */
export async function verifyHolds(db: Queryable): Promise<{ merchantId: string; message: string } | null> {
  const found = await findUnmatchedHold(db);
  if (!found) return null;
  const { merchantId, id, heldMinor, requiredMinor } = found;
  const held = heldMinor === null ? 'nothing is held' : `${formatAmount(heldMinor)} is held`;
  const required = requiredMinor === null ? 'it is not under way' : `${formatAmount(requiredMinor)} must be held`;
  return { merchantId, message: `transfer ${id}: ${held}, but ${required}` };
}
