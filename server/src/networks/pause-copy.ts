import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import type { Pause } from './pause.ts';
import { listPauses } from './queries.ts';

// Real networks need a handful. Numbers that testers have made fail could be more; one that is left out is sent to, and
// its network says again that it takes nothing.
const rowsMax = 1_000n;

/** One process's copy of what is known against networks and numbers, at most a second old. */
export class PauseCopy {
  readonly #copy = new RecentCopy<Pause[]>();

  read(db: Queryable, clock: Clock): Promise<Pause[]> {
    return this.#copy.read(clock, () => listPauses(db, rowsMax));
  }

  /** What was read is out of date: whoever asks next reads again. */
  forget(): void {
    this.#copy.forget();
  }
}
