import type { Queryable } from '../kit/db.ts';
import { deleteLogoRow, findLogoRow, upsertLogo } from './queries.ts';

/** The PNG that stands on a merchant's posters, or null. */
export async function findLogo(db: Queryable, merchantId: string): Promise<Uint8Array | null> {
  return (await findLogoRow(db, merchantId))?.png ?? null;
}

/** Keeps a PNG that `pngProblem` had nothing against, instead of the one before. */
export async function setLogo(
  db: Queryable,
  logo: { merchantId: string; png: Uint8Array; updatedAt: Date },
): Promise<void> {
  await db.run(upsertLogo(logo));
}

/** Whether there was one. */
export async function removeLogo(db: Queryable, merchantId: string): Promise<boolean> {
  return (await deleteLogoRow(db, merchantId)) > 0;
}
