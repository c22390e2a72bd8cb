import { overloadError, type OverloadCode } from './public-error.ts';

/** At most `max` permits of the same key at once. */
export interface Limit {
  key: string;
  max: number;
}

export interface LimiterOptions<Scope> {
  /** Its name in `/metrics`. */
  name: string;
  /** The limits that a permit counts against, the widest first: in all, of a class, of one key. */
  limitsOf: (scope: Scope) => readonly Limit[];
  /** How many may wait in `run` for one scope (by the key of its last limit); with 0, the default, none waits. */
  waitingMax?: number;
  /** What `run` throws when no more may wait. */
  refusal?: { code: OverloadCode; message: string };
}

/** For `/metrics`. */
export interface LimiterFigures {
  readonly name: string;
  readonly inUse: number;
  readonly waiting: number;
  /** Since the process started. */
  readonly refused: number;
}

interface Waiter {
  /** The longest waiting has the lowest. */
  ticket: number;
  limits: readonly Limit[];
  grant: () => void;
  /** The first limit without room when it was last checked. */
  blockedBy: string;
}

/**
 * Limits concurrency by permits that count against several limits at once. When there is none, the caller waits in order of
 * arrival, or is refused; waiting for the limit of one key delays no other key. Keys without permits take no memory.
 */
export class KeyedLimiter<Scope> implements LimiterFigures {
  readonly name: string;
  readonly #limitsOf: (scope: Scope) => readonly Limit[];
  readonly #waitingMax: number;
  readonly #refusal: LimiterOptions<Scope>['refusal'];
  readonly #permits = new Map<string, number>();
  /** By the limit that blocks them, the first to arrive first. */
  readonly #waiters = new Map<string, Waiter[]>();
  /** How many wait in `run`, by the key of their last limit. */
  readonly #queued = new Map<string, number>();
  #tickets = 0;
  #inUse = 0;
  #refused = 0;

  constructor({ name, limitsOf, waitingMax = 0, refusal }: LimiterOptions<Scope>) {
    this.name = name;
    this.#limitsOf = limitsOf;
    this.#waitingMax = waitingMax;
    this.#refusal = refusal;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return [...this.#waiters.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get refused(): number {
    return this.#refused;
  }

  /** Keys with permits; for tests. */
  get keysInUse(): number {
    return this.#permits.size;
  }

  /**
   * Runs `body` with a permit, which is released however `body` ends. When too many wait it runs nothing and throws the
   * limiter's refusal, with `message` where the caller has its own.
   */
  async run<Result>(scope: Scope, body: () => Promise<Result>, message?: string): Promise<Result> {
    if (this.tryAcquire(scope) === 0) await this.#queue(scope, message);
    try {
      return await body();
    } finally {
      this.release(scope);
    }
  }

  /** Acquires as many permits as are free, at most `countMax`, and returns how many. Free means that nobody waits for them. */
  tryAcquire(scope: Scope, countMax = 1): number {
    const limits = this.#limitsOf(scope);
    let count = countMax;
    for (const limit of limits) count = Math.min(count, this.#room(limit));
    if (count <= 0) return 0;
    this.#add(limits, count);
    return count;
  }

  /** Whether permits for both scopes count against the same limits. */
  countsAlike(one: Scope, other: Scope): boolean {
    const [limits, others] = [this.#limitsOf(one), this.#limitsOf(other)];
    return limits.length === others.length && limits.every(({ key }, index) => key === others[index]?.key);
  }

  release(scope: Scope, count = 1): void {
    if (count === 0) return;
    const limits = this.#limitsOf(scope);
    this.#add(limits, -count);
    this.#serve(limits.map(({ key }) => key));
  }

  /** Calls `grant` once, with one permit, as soon as there is one; possibly at once. Returns the function that cancels waiting. */
  wait(scope: Scope, grant: () => void): () => void {
    const limits = this.#limitsOf(scope);
    this.#tickets += 1;
    const waiter = { ticket: this.#tickets, limits, grant, blockedBy: '' };
    this.#grantOrQueue(waiter);
    return () => this.#remove(waiter);
  }

  async #queue(scope: Scope, message?: string): Promise<void> {
    const key = this.#limitsOf(scope).at(-1)?.key ?? '';
    const ahead = this.#queued.get(key) ?? 0;
    if (ahead >= this.#waitingMax) {
      this.#refused += 1;
      const { code, message: usual } = this.#refusal ?? { code: 'unavailable', message: 'Too many requests at once.' };
      throw overloadError(code, message ?? usual);
    }
    addTo(this.#queued, key, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wait(scope, resolve);
    await promise;
    addTo(this.#queued, key, -1);
  }

  /** Grants permits to those who wait for one of these limits, the longest waiting first. */
  #serve(keys: readonly string[]): void {
    for (let next = this.#nextOf(keys); next !== undefined; next = this.#nextOf(keys)) {
      this.#remove(next);
      this.#grantOrQueue(next);
    }
  }

  #nextOf(keys: readonly string[]): Waiter | undefined {
    let next: Waiter | undefined;
    for (const key of keys) {
      const [first] = this.#waiters.get(key) ?? [];
      // Without room the queue is not searched: it can be as long as there are endpoints that hang.
      if (first === undefined || !first.limits.every((limit) => limit.key !== key || this.#room(limit) > 0)) continue;
      if (next === undefined || first.ticket < next.ticket) next = first;
    }
    return next;
  }

  /** Grants the permit, or queues the waiter at the first limit without room. */
  #grantOrQueue(waiter: Waiter): void {
    const blocking = waiter.limits.find((limit) => this.#room(limit) <= 0);
    if (blocking === undefined) {
      this.#add(waiter.limits, 1);
      waiter.grant();
      return;
    }
    waiter.blockedBy = blocking.key;
    const queue = this.#waiters.get(blocking.key) ?? [];
    this.#waiters.set(blocking.key, queue);
    const index = queue.findLastIndex(({ ticket }) => ticket < waiter.ticket);
    queue.splice(index + 1, 0, waiter);
  }

  #remove(waiter: Waiter): void {
    const queue = this.#waiters.get(waiter.blockedBy);
    const index = queue?.indexOf(waiter) ?? -1;
    if (queue === undefined || index < 0) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.#waiters.delete(waiter.blockedBy);
  }

  #room({ key, max }: Limit): number {
    return max - (this.#permits.get(key) ?? 0);
  }

  #add(limits: readonly Limit[], count: number): void {
    this.#inUse += count;
    for (const { key } of limits) addTo(this.#permits, key, count);
  }
}

/** A limiter with one limit for each key and, with `inAll`, one for all of them together. */
export function limitEachKey({
  inAll,
  each,
  ...options
}: Omit<LimiterOptions<string>, 'limitsOf'> & { inAll?: number; each: number }): KeyedLimiter<string> {
  const shared = inAll === undefined ? [] : [{ key: 'all', max: inAll }];
  return new KeyedLimiter({ ...options, limitsOf: (key) => [...shared, { key, max: each }] });
}

/** A key whose count is 0 is removed. */
function addTo(counts: Map<string, number>, key: string, count: number): void {
  const next = (counts.get(key) ?? 0) + count;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
