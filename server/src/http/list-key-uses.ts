import type { Queryable } from '../kit/db.ts';
import { listUsesOfKey } from './queries.ts';

export interface StoredKeyUse {
  path: string;
  /** Of the stored response; null once it is no longer stored. */
  statusCode: number | null;
  /** The transfer that a key of a payout keeps for ever. */
  subjectId: string | null;
  createdAt: Date;
}

/** Where a merchant used an idempotency key, of these paths: a key belongs to the path that it was sent to. */
export function listKeyUses(
  db: Queryable,
  merchantId: string,
  { key, paths }: { key: string; paths: readonly string[] },
): Promise<StoredKeyUse[]> {
  return listUsesOfKey(db, merchantId, { key, paths });
}
