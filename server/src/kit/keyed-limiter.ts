import { AppError } from './app-error.ts';
import type { ErrorCode } from './error-codes.ts';

/** What a permit counts against: at most `max` permits of the same key at once. */
export interface Limit {
  key: string;
  max: number;
}

export interface LimiterOptions<Scope> {
  /** Its name in `/metrics`. */
  name: string;
  /** The limits that hold for a permit, the widest first: in all, of a class, of one key. */
  limitsOf: (scope: Scope) => readonly Limit[];
  /** How many may wait in `run` for one scope (for its last limit's key); 0, the default, refuses at once. */
  waitingMax?: number;
  /** What `run` throws where no more may wait. */
  refusal?: { code: Extract<ErrorCode, 'unavailable' | 'rate_limited'>; message: string };
}

/** What a limiter is doing, for `/metrics`. */
export interface LimiterFigures {
  readonly name: string;
  readonly inUse: number;
  readonly waiting: number;
  /** Since the process began. */
  readonly refused: number;
}

interface Waiter {
  /** Who has waited longest has the lowest. */
  ticket: number;
  limits: readonly Limit[];
  grant: () => void;
  /** The limit that had no room when it was looked at last. */
  blockedBy: string;
}

/**
 * Permits for what is under way, counted against several limits at once. Who finds none waits in the order of coming, or is
 * refused; whoever waits for one merchant's limit keeps nobody of another merchant waiting. Keys without permits are
 * forgotten.
 */
export class KeyedLimiter<Scope> implements LimiterFigures {
  readonly name: string;
  readonly #limitsOf: (scope: Scope) => readonly Limit[];
  readonly #waitingMax: number;
  readonly #refusal: LimiterOptions<Scope>['refusal'];
  readonly #taken = new Map<string, number>();
  /** By the limit that blocks them, those who came first at the beginning. */
  readonly #waiters = new Map<string, Waiter[]>();
  /** Those who wait in `run`, by the key of their last limit. */
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
    return this.#taken.size;
  }

  /**
   * Runs `body` with a permit, which is released however `body` ends. Where too many wait it runs nothing and throws
   * AppError with the limiter's refusal; `message` says it in the words of the caller.
   */
  async run<Result>(scope: Scope, body: () => Promise<Result>, message?: string): Promise<Result> {
    if (this.tryAcquire(scope) === 0) await this.#queue(scope, message);
    try {
      return await body();
    } finally {
      this.release(scope);
    }
  }

  /** Takes as many permits as are free, at most `wanted`, and answers how many. Whoever waits has had its permit already. */
  tryAcquire(scope: Scope, wanted = 1): number {
    const limits = this.#limitsOf(scope);
    let count = wanted;
    for (const limit of limits) count = Math.min(count, this.#room(limit));
    if (count <= 0) return 0;
    this.#add(limits, count);
    return count;
  }

  /** Whether a permit for the one counts against the same limits as one for the other. */
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

  /** Calls `grant` once, with one permit, when it is this caller's turn; maybe at once. Answers how to wait no longer. */
  wait(scope: Scope, grant: () => void): () => void {
    const limits = this.#limitsOf(scope);
    this.#tickets += 1;
    const waiter = { ticket: this.#tickets, limits, grant, blockedBy: '' };
    this.#place(waiter);
    return () => this.#remove(waiter);
  }

  async #queue(scope: Scope, message?: string): Promise<void> {
    const key = this.#limitsOf(scope).at(-1)?.key ?? '';
    const ahead = this.#queued.get(key) ?? 0;
    if (ahead >= this.#waitingMax) {
      this.#refused += 1;
      const { code, message: usual } = this.#refusal ?? { code: 'unavailable', message: 'Too many requests at once.' };
      throw new AppError(code, message ?? usual, { retryAfterSeconds: 1 });
    }
    addTo(this.#queued, key, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wait(scope, resolve);
    await promise;
    addTo(this.#queued, key, -1);
  }

  /** Gives permits to those who wait for one of these limits, the longest waiting first. */
  #serve(keys: readonly string[]): void {
    for (let next = this.#nextOf(keys); next !== undefined; next = this.#nextOf(keys)) {
      this.#remove(next);
      this.#place(next);
    }
  }

  #nextOf(keys: readonly string[]): Waiter | undefined {
    let next: Waiter | undefined;
    for (const key of keys) {
      const [first] = this.#waiters.get(key) ?? [];
      // Where there is no room nobody is asked: such a row can be as long as there are endpoints that hang.
      if (first === undefined || !first.limits.every((limit) => limit.key !== key || this.#room(limit) > 0)) continue;
      if (next === undefined || first.ticket < next.ticket) next = first;
    }
    return next;
  }

  /** Grants it, or lets it wait for the first limit without room. */
  #place(waiter: Waiter): void {
    const blocking = waiter.limits.find((limit) => this.#room(limit) <= 0);
    if (blocking === undefined) {
      this.#add(waiter.limits, 1);
      waiter.grant();
      return;
    }
    waiter.blockedBy = blocking.key;
    const row = this.#waiters.get(blocking.key) ?? [];
    this.#waiters.set(blocking.key, row);
    const index = row.findLastIndex(({ ticket }) => ticket < waiter.ticket);
    row.splice(index + 1, 0, waiter);
  }

  #remove(waiter: Waiter): void {
    const row = this.#waiters.get(waiter.blockedBy);
    const index = row?.indexOf(waiter) ?? -1;
    if (row === undefined || index < 0) return;
    row.splice(index, 1);
    if (row.length === 0) this.#waiters.delete(waiter.blockedBy);
  }

  #room({ key, max }: Limit): number {
    return max - (this.#taken.get(key) ?? 0);
  }

  #add(limits: readonly Limit[], count: number): void {
    this.#inUse += count;
    for (const { key } of limits) addTo(this.#taken, key, count);
  }
}

/** A limiter with one limit for each key and, where `inAll` is given, one for all of them together. */
export function limitEachKey({
  inAll,
  each,
  ...options
}: Omit<LimiterOptions<string>, 'limitsOf'> & { inAll?: number; each: number }): KeyedLimiter<string> {
  const shared = inAll === undefined ? [] : [{ key: 'all', max: inAll }];
  return new KeyedLimiter({ ...options, limitsOf: (key) => [...shared, { key, max: each }] });
}

/** Keys of which there are none are forgotten. */
function addTo(counts: Map<string, number>, key: string, count: number): void {
  const next = (counts.get(key) ?? 0) + count;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
