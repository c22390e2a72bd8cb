import type { Clock } from '../kit/clock.ts';
import type { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Batches } from './worker.ts';

/** How much of a key may be under way now. */
export interface Capacity<Scope> {
  /** The permits that its items take. */
  scope: Scope;
  /** Items under way at once. */
  concurrency: number;
  /** Items claimed beyond that, to start when one ends; 0 where a claimed item could wait for long. */
  prefetch: number;
}

/** The permit of an item under way. */
export interface Permit {
  /** Whether the key has more work than is under way. */
  hasBacklog(): boolean;
  /** Returns the permit before `run` has ended. Calling it again does nothing. */
  release(): void;
}

/** Rows that are claimed in batches, key by key, and worked concurrently. */
export interface BatchSource<Item, Scope> {
  capacity(key: string): Capacity<Scope>;
  /** Claims at most `rowsMax`. Rejects when the database does; claimed rows are due again when their lease ends. */
  claim(key: string, rowsMax: number): Promise<Item[]>;
  /** Must not reject: it postpones and logs its own failures. */
  run(item: Item, permit: Permit): Promise<void>;
  /** Undoes claims of items that were not run. Must not reject. Without it, claimed items are always run. */
  putBack?(key: string, items: readonly Item[]): Promise<void>;
  /** Called when nothing of the key is under way or claimed any more. */
  onIdle?(key: string): void;
}

interface BatchQueueOptions<Scope> {
  clock: Clock;
  limiter: KeyedLimiter<Scope>;
  /** While items of the key are under way, a claim of fewer rows is not worth its statements. */
  claimMin: number;
  /** The most rows of one claim. */
  claimMax: number;
}

// A prefetched item that has no permit after this time is put back: long enough for a key with quick items, short enough for the
// lease to cover it and for a change of what the claim has read to take effect soon.
const staleAfterMs = 2_000;
// At 100 ms for an item, a permit runs twice as many before the last of them would be put back.
const prefetchPerPermitMax = 8;
// With more items done and not recorded yet, the database is the bottleneck.
const unrecordedMax = 128;

/** What one key has under way and claimed. */
interface KeyState<Item, Scope> {
  readonly key: string;
  readonly claimed: { item: Item; claimedAtMs: number }[];
  /** Permits that were granted and not used yet. */
  readonly granted: Scope[];
  /** Items with a permit. */
  running: number;
  /** Items whose permit is released and whose `run` has not ended. */
  unrecorded: number;
  /** Claims and calls of `putBack` under way. */
  statements: number;
  isMoreDue: boolean;
  isWatched: boolean;
  stopWaiting: (() => void) | null;
}

/**
 * Claims as many items of each key as there are permits for, and runs them. The key is not blocked meanwhile: an item that hangs
 * costs its key one permit and other keys nothing. A key with more work is scheduled again when there is room.
 */
export class BatchQueue<Item, Scope> implements Batches {
  readonly #source: BatchSource<Item, Scope>;
  readonly #options: BatchQueueOptions<Scope>;
  readonly #states = new Map<string, KeyState<Item, Scope>>();
  readonly #stopped = new AbortController();
  #schedule: ((key: string) => void) | null = null;
  #onIdle: (() => void)[] = [];

  constructor(source: BatchSource<Item, Scope>, options: BatchQueueOptions<Scope>) {
    this.#source = source;
    this.#options = options;
  }

  get limiter(): KeyedLimiter<Scope> {
    return this.#options.limiter;
  }

  attach(schedule: (key: string) => void): void {
    this.#schedule = schedule;
  }

  /** Schedules a key that has more work. Returns whether this process is going to run it. */
  schedule(key: string): boolean {
    if (this.#schedule === null || this.#stopped.signal.aborted) return false;
    this.#schedule(key);
    return true;
  }

  /** How many items of a key can be added now: none while it has more due than is claimed. */
  room(key: string): number {
    if (this.#schedule === null || this.#stopped.signal.aborted) return 0;
    const state = this.#states.get(key);
    if (state && (state.isMoreDue || state.stopWaiting !== null || state.unrecorded > unrecordedMax)) return 0;
    const { concurrency, prefetch } = this.#source.capacity(key);
    return Math.max(0, concurrency + prefetch - (state ? state.running + state.claimed.length : 0));
  }

  /** Runs items that are claimed already, as those of a claim; after `stop` they are put back. */
  add(key: string, items: readonly Item[]): void {
    const state = this.#states.get(key) ?? newState<Item, Scope>(key);
    this.#states.set(key, state);
    const claimedAtMs = this.#options.clock.now().getTime();
    state.claimed.push(...items.map((item) => ({ item, claimedAtMs })));
    this.#start(state);
  }

  get isIdle(): boolean {
    return this.#states.size === 0;
  }

  /** Resolves when nothing is under way and nothing claimed. */
  async idle(): Promise<void> {
    if (this.isIdle) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle.push(resolve);
    await promise;
  }

  /** Claims and starts nothing more; prefetched items are put back. */
  stop(): void {
    this.#stopped.abort();
    for (const state of this.#states.values()) {
      state.stopWaiting?.();
      state.stopWaiting = null;
      this.#releaseGranted(state);
      void this.#putBackStale(state);
      this.#endIfIdle(state);
    }
  }

  /** One round for the key: starts claimed items, and claims as many as there is room for. Never twice at once for a key. */
  async run(key: string): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const state = this.#states.get(key) ?? newState<Item, Scope>(key);
    this.#states.set(key, state);
    state.isMoreDue = true;
    state.statements += 1;
    try {
      this.#start(state);
      if (this.#hasRoom(state, 1)) await this.#claim(state);
    } catch (error) {
      // The next poll finds it; scheduled again at once, it would fail again at once.
      state.isMoreDue = false;
      throw error;
    } finally {
      state.statements -= 1;
      this.#releaseGranted(state);
      this.#endIfIdle(state);
    }
    this.#scheduleIfRoom(state);
  }

  /** Whether there is room for a claim of at least `claimMin` items. Once there is again, the key is scheduled. */
  #hasRoom(state: KeyState<Item, Scope>, claimMin: number): boolean {
    if (state.stopWaiting !== null || state.unrecorded > unrecordedMax) return false;
    const { concurrency, prefetch } = this.#source.capacity(state.key);
    if (prefetch > 0) return state.claimed.length * 2 <= prefetchMax(state, prefetch);
    const room = concurrency - state.running;
    return room >= claimMin || (room > 0 && state.running === 0);
  }

  async #claim(state: KeyState<Item, Scope>): Promise<void> {
    const { limiter, claimMax, clock } = this.#options;
    const { scope, concurrency, prefetch } = this.#source.capacity(state.key);
    const requested = concurrency - state.running - state.granted.length;
    for (let count = limiter.tryAcquire(scope, requested); count > 0; count -= 1) state.granted.push(scope);
    const ahead = Math.max(0, prefetchMax(state, prefetch) - state.claimed.length);
    const rowsMax = Math.min(claimMax, state.granted.length + ahead);
    if (rowsMax === 0) return this.#waitForPermit(state, scope);
    state.isMoreDue = false;
    const items = await this.#source.claim(state.key, rowsMax);
    if (items.length === rowsMax) state.isMoreDue = true;
    // Read anew, so that the rows of a slow claim are not too old at once.
    const claimedAtMs = clock.now().getTime();
    state.claimed.push(...items.map((item) => ({ item, claimedAtMs })));
    this.#start(state);
  }

  /** Runs claimed items, as far as there are permits. */
  #start(state: KeyState<Item, Scope>): void {
    for (let [next] = state.claimed; next !== undefined; [next] = state.claimed) {
      if (this.#isStale(next.claimedAtMs)) return void this.#putBackStale(state);
      const { scope, concurrency } = this.#source.capacity(state.key);
      if (state.running >= concurrency) break;
      const granted = state.granted.pop();
      if (granted === undefined && this.#options.limiter.tryAcquire(scope) === 0) {
        this.#waitForPermit(state, scope);
        break;
      }
      state.claimed.shift();
      state.running += 1;
      void this.#runItem(state, next.item, granted ?? scope);
    }
    if (state.claimed.length > 0 && !state.isWatched) void this.#watchClaimed(state);
  }

  async #runItem(state: KeyState<Item, Scope>, item: Item, scope: Scope): Promise<void> {
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      state.running -= 1;
      state.unrecorded += 1;
      this.#reusePermit(state, scope);
      this.#scheduleIfRoom(state);
    };
    const hasBacklog = (): boolean => state.claimed.length > 0 || state.isMoreDue;
    await this.#source.run(item, { hasBacklog, release });
    release();
    state.unrecorded -= 1;
    this.#scheduleIfRoom(state);
    this.#endIfIdle(state);
  }

  /**
   * Uses the permit for the next claimed item of the key, or else releases it. Passed from key to key with each item, the prefetched
   * items of many keys would grow too old. A permit that counts against other limits than the key has now, as that of an
   * endpoint that has just proved quick, is always released.
   */
  #reusePermit(state: KeyState<Item, Scope>, scope: Scope): void {
    const { limiter } = this.#options;
    if (!limiter.countsAlike(scope, this.#source.capacity(state.key).scope)) {
      limiter.release(scope);
      this.#start(state);
      return;
    }
    const grantedBefore = state.granted.length;
    state.granted.push(scope);
    this.#start(state);
    if (state.granted.length <= grantedBefore) return;
    state.granted.pop();
    limiter.release(scope);
  }

  #scheduleIfRoom(state: KeyState<Item, Scope>): void {
    if (state.isMoreDue && this.#hasRoom(state, this.#options.claimMin)) this.schedule(state.key);
  }

  #waitForPermit(state: KeyState<Item, Scope>, scope: Scope): void {
    if (state.stopWaiting !== null || this.#stopped.signal.aborted) return;
    let isGranted = false;
    const stopWaiting = this.#options.limiter.wait(scope, () => {
      isGranted = true;
      state.stopWaiting = null;
      state.granted.push(scope);
      this.#start(state);
      // Unless a claimed item has used the permit, it is for what a claim will find.
      if (state.granted.length > 0) this.schedule(state.key);
    });
    if (!isGranted) state.stopWaiting = stopWaiting;
  }

  #releaseGranted(state: KeyState<Item, Scope>): void {
    for (const scope of state.granted.splice(0)) this.#options.limiter.release(scope);
  }

  /** Puts back items that have waited too long for a permit. */
  async #putBackStale(state: KeyState<Item, Scope>): Promise<void> {
    const stale = state.claimed.filter(({ claimedAtMs }) => this.#isStale(claimedAtMs));
    if (stale.length === 0) return;
    const fresh = state.claimed.filter(({ claimedAtMs }) => !this.#isStale(claimedAtMs));
    state.claimed.splice(0, Infinity, ...fresh);
    state.statements += 1;
    const items = stale.map(({ item }) => item);
    await this.#source.putBack?.(state.key, items);
    state.statements -= 1;
    state.isMoreDue = true;
    this.#scheduleIfRoom(state);
    this.#endIfIdle(state);
  }

  async #watchClaimed(state: KeyState<Item, Scope>): Promise<void> {
    const { clock } = this.#options;
    state.isWatched = true;
    while (state.claimed.length > 0 && !this.#stopped.signal.aborted) {
      await clock.sleep(staleAfterMs, this.#stopped.signal);
      await this.#putBackStale(state);
    }
    state.isWatched = false;
  }

  #isStale(claimedAtMs: number): boolean {
    if (!this.#source.putBack) return false;
    const ageMs = this.#options.clock.now().getTime() - claimedAtMs;
    // After the clock was set back, a claim must not be held for longer than its lease.
    return this.#stopped.signal.aborted || ageMs < 0 || ageMs >= staleAfterMs;
  }

  #endIfIdle(state: KeyState<Item, Scope>): void {
    const { running, unrecorded, statements, claimed, granted, stopWaiting } = state;
    if (running + unrecorded + statements + claimed.length + granted.length > 0 || stopWaiting !== null) return;
    if (this.#states.get(state.key) !== state) return;
    this.#states.delete(state.key);
    this.#source.onIdle?.(state.key);
    if (this.#states.size > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

/** No more than the permits of the key will soon be free for. */
function prefetchMax({ granted, running }: KeyState<unknown, unknown>, prefetch: number): number {
  return Math.min(prefetch, (granted.length + running) * prefetchPerPermitMax);
}

function newState<Item, Scope>(key: string): KeyState<Item, Scope> {
  const counts = { running: 0, unrecorded: 0, statements: 0 };
  return { key, claimed: [], granted: [], ...counts, isMoreDue: false, isWatched: false, stopWaiting: null };
}
