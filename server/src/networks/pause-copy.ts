import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Pause } from './pause.ts';
import { listPauses } from './queries.ts';

// Processes agree on a pause within this time. One statement a second answers for any number of payouts.
const lifetimeMs = 1_000;
// Real networks need a handful. Numbers that testers have made fail could be more; one that is left out is sent to, and
// its network says again that it takes nothing.
const rowsMax = 1_000n;

/** One process's copy of what is known against networks and numbers, at most a second old. */
export class PauseCopy {
  #current: { readAtMs: number; pauses: Promise<Pause[]> } | null = null;

  read(db: Queryable, clock: Clock): Promise<Pause[]> {
    const nowMs = clock.now().getTime();
    const ageMs = this.#current ? nowMs - this.#current.readAtMs : lifetimeMs;
    // A clock that was set back must not keep a copy for longer.
    if (this.#current && ageMs >= 0 && ageMs < lifetimeMs) return this.#current.pauses;
    const entry = { readAtMs: nowMs, pauses: listPauses(db, rowsMax) };
    this.#current = entry;
    entry.pauses.catch(() => {
      if (this.#current === entry) this.#current = null;
    });
    return entry.pauses;
  }

  /** What was read is out of date: whoever asks next reads again. */
  forget(): void {
    this.#current = null;
  }
}
