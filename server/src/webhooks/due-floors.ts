import { BoundedMap } from '../kit/bounded-map.ts';
import { addMs } from '../kit/clock.ts';
import type { DueSearch } from './queries/deliveries.ts';

// A delivery becomes visible when its transaction commits: one that takes longer is found by a sweep from the start.
const commitsWithinMs = 10_000;
// A worker sweeps each second. After a longer pause than this, others may have left work behind.
const pauseMs = 30_000;
const queuesMax = 10_000;
const start = new Date(0);

/**
 * Where to begin looking for due deliveries. While any transaction stays open, the index keeps an entry of each earlier due time of each
 * delivery since, so that looking from the start takes a second for 1,000 endpoints after a million deliveries. A claim begins with
 * what its endpoint queue's last claim returned last, a sweep with what has fallen due since the last one; each sweep looks at a
 * part of the endpoints from the start (`searchParts`).
 */
export class DueFloors {
  readonly #claimedTo = new BoundedMap<string, Date>(queuesMax);
  /** Queues whose claim failed; what they have due may be older than the next sweep looks. */
  readonly #failed = new Set<string>();
  #sweptTo: Date | null = null;
  #sweeps = 0;

  /** What the next sweep has to look at: all after a pause, and after the clock was set back. */
  nextSweep(now: Date): DueSearch {
    this.#sweeps += 1;
    const sinceMs = this.#sweptTo === null ? Infinity : now.getTime() - this.#sweptTo.getTime();
    const isSteady = sinceMs >= 0 && sinceMs < pauseMs;
    return { now, from: isSteady ? addMs(now, -sinceMs - commitsWithinMs) : start, part: this.#sweeps };
  }

  /** Returns the queues to claim for: those that were found, and those whose claim failed. */
  noteSweep({ now, from }: DueSearch, found: readonly { key: string; fromStart: boolean }[]): string[] {
    this.#sweptTo = now;
    for (const { key, fromStart } of found) if (fromStart || from === start) this.#claimedTo.delete(key);
    const keys = new Set([...this.#failed, ...found.map(({ key }) => key)]);
    this.#failed.clear();
    return [...keys];
  }

  claimFrom(key: string, now: Date): Date {
    const claimedTo = this.#claimedTo.get(key);
    // After the clock was set back, what is due before the last claim may have been written since.
    return claimedTo === undefined || claimedTo > now ? start : addMs(claimedTo, -commitsWithinMs);
  }

  /** Nothing that is due before this is left, but what is claimed. */
  noteClaim(key: string, claimedTo: Date): void {
    this.#claimedTo.set(key, claimedTo);
  }

  noteFailedClaim(key: string): void {
    this.#failed.add(key);
  }
}
