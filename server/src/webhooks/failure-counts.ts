import { BoundedMap } from '../kit/bounded-map.ts';
import type { Clock } from '../kit/clock.ts';

// A receiver that is down fails hundreds of attempts; the operator needs to know once, and that it goes on.
const logIntervalMs = 60_000;
const endpointsMax = 10_000;

/** Which failures of endpoints are logged: at most one a minute for each endpoint. */
export class FailureCounts {
  readonly #clock: Clock;
  /** When an endpoint was logged last, and how many failed since then without a line of their own. */
  readonly #logged = new BoundedMap<string, { atMs: number; unlogged: number }>(endpointsMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a failure. Returns how many its line stands for, or null where it gets none. */
  add(endpointId: string): number | null {
    const nowMs = this.#clock.now().getTime();
    const logged = this.#logged.get(endpointId);
    if (logged !== undefined && nowMs - logged.atMs < logIntervalMs) {
      logged.unlogged += 1;
      return null;
    }
    this.#logged.set(endpointId, { atMs: nowMs, unlogged: 0 });
    return (logged?.unlogged ?? 0) + 1;
  }
}
