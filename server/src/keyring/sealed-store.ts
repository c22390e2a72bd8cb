import type { Queryable, Statement } from '../kit/db.ts';
import { SealError, type Sealer } from '../kit/seal.ts';

/** One stored value, and how to replace it. */
export interface SealedValue<Position> {
  /** Where it comes among the others; values of one row have the same. */
  position: Position;
  /** Names it and its owner, for people. */
  name: string;
  sealed: Buffer;
  context: string;
  /** Changes the row only while it holds the value that was read. */
  replaceBy(sealed: Buffer): Statement;
}

/** A kind of stored values that are sealed, for `secrets reseal`. */
export interface SealedStore<Position = unknown> {
  /** In the plural: `webhook secrets`. */
  what: string;
  countByKey(db: Queryable): Promise<{ keyId: string; count: bigint }[]>;
  /** The next values that are sealed under another key than this one, in the order of their positions. */
  listUnderOtherKeys(
    db: Queryable,
    page: { keyId: string; after: Position | null; rowsMax: number },
  ): Promise<SealedValue<Position>[]>;
}

// Small enough that stopping the command loses little, large enough that the look-ups cost little.
const batchRows = 200;

/**
 * Reseals the values that are not under the sealer's key, in batches; each value is a statement of its own. Resealed values are
 * not found again, so it can be stopped at any point and run again. Returns the names of those that cannot be opened, which
 * stay as they are.
 */
export async function resealStore<Position>(
  db: Queryable,
  store: SealedStore<Position>,
  { sealer, onProgress }: { sealer: Sealer; onProgress: (seen: number) => void },
): Promise<{ resealed: number; unreadable: string[] }> {
  const unreadable: string[] = [];
  let [resealed, seen]: [number, number] = [0, 0];
  let after: Position | null = null;
  for (;;) {
    const values: SealedValue<Position>[] = await store.listUnderOtherKeys(db, {
      keyId: sealer.keyId,
      after,
      rowsMax: batchRows,
    });
    const last = values.at(-1);
    if (last === undefined) return { resealed, unreadable };
    const touched = await Promise.all(values.map((value) => reseal(db, sealer, value)));
    unreadable.push(...values.filter((_, index) => touched[index] === null).map(({ name }) => name));
    resealed += touched.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    seen += values.length;
    onProgress(seen);
    after = last.position;
  }
}

/** Returns how many rows it changed: 0 where the value was replaced meanwhile. Null for a value that cannot be opened. */
async function reseal<Position>(db: Queryable, sealer: Sealer, value: SealedValue<Position>): Promise<number | null> {
  try {
    const plain = sealer.open(value.sealed, value.context);
    return await db.run(value.replaceBy(sealer.seal(plain, value.context)));
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
