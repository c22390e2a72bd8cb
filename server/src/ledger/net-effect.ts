import type { Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { sumBySources } from './queries.ts';

/** What several sources together have left on each account, in bututs: credited less debited, without zeros. */
export async function netEffectOf(
  db: Queryable,
  query: { merchantId: string; currency: string; sourceIds: readonly string[] },
): Promise<Map<Account, bigint>> {
  const rows = await sumBySources(db, query);
  return new Map(rows.map(({ account, netEffect }) => [account, BigInt(netEffect)]));
}
