import type { Clock } from './clock.ts';

/** What has begun in one millisecond, and ends at the same time if it does not end by itself. */
interface Group<Timed> {
  readonly startedAtMs: number;
  readonly members: Set<Timed>;
  readonly finished: AbortController;
}

// An abort without a reason creates an error with a stack each time.
const whenFinished = 'finished';

/** A time limit of the same length for many. What begins in the same millisecond shares one timer. */
export class TimeLimits<Timed extends { timeOut(): void }> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #newest: Group<Timed> | null = null;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Calls `timeOut` when the time is up, unless the returned function is called before. */
  start(timed: Timed, startedAtMs: number): () => void {
    const group = this.#newest?.startedAtMs === startedAtMs ? this.#newest : this.#startGroup(startedAtMs);
    group.members.add(timed);
    return () => this.#end(group, timed);
  }

  #startGroup(startedAtMs: number): Group<Timed> {
    const group = { startedAtMs, members: new Set<Timed>(), finished: new AbortController() };
    this.#newest = group;
    void this.#clock.sleep(this.#limitMs, group.finished.signal).then(() => {
      if (this.#newest === group) this.#newest = null;
      for (const timed of group.members) timed.timeOut();
    });
    return group;
  }

  #end(group: Group<Timed>, timed: Timed): void {
    group.members.delete(timed);
    if (group.members.size > 0) return;
    if (this.#newest === group) this.#newest = null;
    group.finished.abort(whenFinished);
  }
}
