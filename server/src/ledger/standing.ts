import type { Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { sumBySources } from './queries.ts';

/** What several sources together have left on each account, in bututs: credited less debited, without zeros. */
export async function standingOf(
  db: Queryable,
  ask: { merchantId: string; currency: string; sourceIds: readonly string[] },
): Promise<Map<Account, bigint>> {
  const rows = await sumBySources(db, ask);
  return new Map(rows.map(({ account, standing }) => [account, BigInt(standing)]));
}
