import type { Queryable } from '../../kit/db.ts';
import { deleteLogoRow, findLogoRow, upsertLogo } from '../queries/logos.ts';

/** The merchant's logo as a PNG, or null. */
export async function findLogo(db: Queryable, merchantId: string): Promise<Uint8Array | null> {
  return (await findLogoRow(db, merchantId))?.png ?? null;
}

/** Stores a PNG that passed `pngProblem`, replacing the previous logo. */
export async function setLogo(
  db: Queryable,
  logo: { merchantId: string; png: Uint8Array; updatedAt: Date },
): Promise<void> {
  await db.run(upsertLogo(logo));
}

/** Returns whether there was a logo. */
export async function removeLogo(db: Queryable, merchantId: string): Promise<boolean> {
  return (await deleteLogoRow(db, merchantId)) > 0;
}
