import type { Queryable } from '../kit/db.ts';
import { insertSweptMerchantOnce, listMerchantsAndSwept } from './queries.ts';

/**
 * Adds the rows from which sweeps start where they are missing: for merchants from before there were such rows, and for those that a
 * process of an earlier release creates while an upgrade rolls. Returns how many.
 */
export async function addSweptMerchants({ db }: { db: Queryable }): Promise<number> {
  const { merchants, swept } = await listMerchantsAndSwept(db);
  const known = new Set(swept);
  const missing = merchants.filter((id) => !known.has(id));
  for (const id of missing) await db.run(insertSweptMerchantOnce(id));
  return missing.length;
}
