import { BoundedMap } from './bounded-map.ts';
import { addMs } from './clock.ts';

// A row becomes visible when its transaction commits: one that takes longer is found by a sweep from the start.
const commitsWithinMs = 10_000;
// A worker sweeps each second. After a longer pause than this, others may have left work behind.
const pauseMs = 30_000;
const keysMax = 10_000;
const start = new Date(0);
/** Each key is looked at from the start once in so many sweeps. */
export const searchParts = 64;

/** What a sweep looks at: what has fallen due since `from`, and all that is due of a part of the keys. */
export interface DueSearch {
  now: Date;
  from: Date;
  /** The sweep looks at all. */
  isWhole: boolean;
  /** Of `searchParts`. */
  part: number;
}

/**
 * Where to begin looking for due rows of a queue. While any transaction stays open, as a backup's does, an index keeps an entry of each
 * earlier due time of each row since, so that looking from the start takes a second after a million rows. A claim begins with what
 * its key's last claim returned last, a sweep with what has fallen due since the last one; each sweep looks at a part of the keys
 * from the start.
 */
export class DueFloors {
  readonly #claimedTo = new BoundedMap<string, Date>(keysMax);
  /** Keys whose claim failed; what they have due may be older than the next sweep looks. */
  readonly #failed = new Set<string>();
  #sweptTo: Date | null = null;
  #sweeps = 0;

  /** What the next sweep has to look at: all after a pause, and after the clock was set back. */
  nextSweep(now: Date): DueSearch {
    this.#sweeps += 1;
    const sinceMs = this.#sweptTo === null ? Infinity : now.getTime() - this.#sweptTo.getTime();
    const isWhole = sinceMs < 0 || sinceMs >= pauseMs;
    return {
      now,
      from: isWhole ? start : addMs(now, -sinceMs - commitsWithinMs),
      isWhole,
      part: this.#sweeps % searchParts,
    };
  }

  /** Returns the keys to claim for: those that were found, and those whose claim failed. */
  noteSweep({ now, isWhole }: DueSearch, found: readonly { key: string; fromStart: boolean }[]): string[] {
    this.#sweptTo = now;
    for (const { key, fromStart } of found) if (fromStart || isWhole) this.#claimedTo.delete(key);
    const keys = new Set([...this.#failed, ...found.map(({ key }) => key)]);
    this.#failed.clear();
    return [...keys];
  }

  /**
   * Claims what is due of a key, the longest due first. Nothing that is due before its last row is left then, but what others have
   * claimed. The time of a row counts, not this process's: where one that writes rows is behind, its next ones are found too.
   */
  async claim<Row>(
    key: string,
    now: Date,
    { rowsFrom, dueAtOf }: { rowsFrom: (from: Date) => Promise<Row[]>; dueAtOf: (row: Row) => Date },
  ): Promise<Row[]> {
    try {
      const rows = await rowsFrom(this.#claimFrom(key, now));
      if (rows.length > 0) this.#claimedTo.set(key, new Date(Math.max(...rows.map((row) => dueAtOf(row).getTime()))));
      return rows;
    } catch (error) {
      this.#failed.add(key);
      throw error;
    }
  }

  #claimFrom(key: string, now: Date): Date {
    const claimedTo = this.#claimedTo.get(key);
    // After the clock was set back, what is due before the last claim may have been written since.
    return claimedTo === undefined || claimedTo > now ? start : addMs(claimedTo, -commitsWithinMs);
  }
}
