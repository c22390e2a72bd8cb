import type { Queryable, Statement } from './db.ts';
import { SealError } from './seal.ts';
import type { Sealer } from './seal.ts';

/** One stored value, and how to put another in its place. */
export interface SealedValue<Position> {
  /** Where it stands among the others; values of one row have the same. */
  position: Position;
  /** What it is and whose, for people. */
  name: string;
  sealed: Buffer;
  context: string;
  /** Touches the row only where the value is still the one that was read. */
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

// Small enough that a command that is stopped has lost nothing worth telling, large enough that the look-up costs little.
const batchRows = 200;

/**
 * Seals a store's values anew that are not under the sealer's key, batch by batch; each value is a statement of its own.
 * What was sealed anew is not found again, so it can be stopped anywhere and run again. Answers the names of those that
 * cannot be opened, which stay as they are.
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

/** How many rows it touched: none where the value was changed meanwhile. Null for a value that cannot be opened. */
async function reseal<Position>(db: Queryable, sealer: Sealer, value: SealedValue<Position>): Promise<number | null> {
  try {
    const plain = sealer.open(value.sealed, value.context);
    return await db.run(value.replaceBy(sealer.seal(plain, value.context)));
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
