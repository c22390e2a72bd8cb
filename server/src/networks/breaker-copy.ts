import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { listBreakers } from './queries.ts';

// Real networks need a handful. Numbers that testers have made fail could be more; one that is left out is sent to, and
// its network says again that it takes nothing.
const rowsMax = 1_000n;

/** One process's copy of the circuit breakers against which something is known, at most a second old. */
export class BreakerCopy {
  readonly #copy = new RecentCopy<CircuitBreaker[]>();

  read(db: Queryable, clock: Clock): Promise<CircuitBreaker[]> {
    return this.#copy.read(clock, () => listBreakers(db, rowsMax));
  }

  /** What was read is out of date: whoever asks next reads again. */
  forget(): void {
    this.#copy.forget();
  }
}
