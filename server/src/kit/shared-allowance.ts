import type { Clock } from './clock.ts';

/** What one `take` costs, as time: an allowance is replenished as time passes (generic cell rate algorithm). */
export interface Take {
  nowUs: bigint;
  /** How long it takes to replenish as much. */
  costUs: bigint;
  /** How long it takes to replenish all. */
  burstUs: bigint;
}

// An arrival time further ahead than any allowance allows was written with a wrong clock; obeying it would refuse everything
// until then.
const clockSkewMaxUs = 1_000_000n;

/**
 * The rest of the statement `INSERT INTO <table> (<key>, arrival_us)` that takes of an allowance which all processes share.
 * It returns the new arrival time as `value`, or no row when the allowance is used up. The values are those of the key, then
 * `takeValues`.
 */
export function takeClause(table: string, key: readonly string[]): string {
  const keyParameters = key.map((_column, index) => `$${index + 1}`).join(', ');
  const [now, cost, burst, wrong] = [1, 2, 3, 4].map((position) => `$${key.length + position}::bigint`);
  const arrival = `${table}.arrival_us`;
  return `VALUES (${keyParameters}, ${now} + ${cost})
          ON CONFLICT (${key.join(', ')}) DO UPDATE
          SET arrival_us = CASE WHEN ${arrival} > ${wrong} THEN ${now} ELSE GREATEST(${arrival}, ${now}) END + ${cost}
          WHERE ${arrival} > ${wrong} OR GREATEST(${arrival}, ${now}) + ${cost} - ${now} <= ${burst}
          RETURNING arrival_us AS value`;
}

/** @see takeClause */
export function takeValues({ nowUs, costUs, burstUs }: Take): bigint[] {
  return [nowUs, costUs, burstUs, nowUs + burstUs + clockSkewMaxUs];
}

/** One allowance: its row, which all processes share, and its rate. */
export interface Allowance {
  key: string;
  /** How many are replenished a second, above 0. */
  rate: number;
  /** Returns the new arrival time, or undefined when the allowance is used up. */
  take(take: Take): Promise<bigint | undefined>;
  findArrival(): Promise<bigint | undefined>;
}

/** How many are `left`, or how long to wait. */
export type AllowanceResult = { left: number } | Refused;

interface Refused {
  retryAfterSeconds: number;
}

// A process leases this share of a second's allowance at a time, so that most takes need no database; what it does not use
// within the second is lost, which is how far the shared limit may be off.
const leaseShare = 0.04;
const usualLeaseMs = 1_000;
const keysMax = 10_000;
const usPerSecond = 1_000_000;

interface Lease {
  left: number;
  /** What was left to all processes together when this lease was taken. */
  leftToAll: number;
  expiresAtMs: number;
}

/** Between these times the allowance is known to be used up, without a query. */
interface Refusal {
  fromUs: bigint;
  untilUs: bigint;
}

/** Rate limits that all processes share, with as few queries as possible. */
export class SharedAllowances {
  readonly #clock: Clock;
  readonly #burstSeconds: number;
  readonly #leaseMs: number;
  readonly #leases = new Map<string, Lease>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #pendingLeases = new Map<string, Promise<Refused | null>>();

  /**
   * `burstSeconds`: how many seconds' worth may be taken at once. `leaseMs`: how long a process may use its lease; longer than
   * the default of a second where most of it is restored.
   */
  constructor(clock: Clock, { burstSeconds, leaseMs }: { burstSeconds: number; leaseMs?: number }) {
    this.#clock = clock;
    this.#burstSeconds = burstSeconds;
    this.#leaseMs = leaseMs ?? usualLeaseMs;
  }

  /** Takes one. */
  async take(allowance: Allowance): Promise<AllowanceResult> {
    const { key } = allowance;
    for (;;) {
      const lease = this.#leases.get(key);
      if (lease && lease.left > 0 && lease.expiresAtMs > this.#clock.now().getTime()) {
        lease.left -= 1;
        return { left: lease.left + lease.leftToAll };
      }
      const refused = this.#refusedBefore(key) ?? (await this.#leaseOnce(allowance));
      if (refused) return refused;
    }
  }

  /** Undoes one `take`, for this process. */
  restore(key: string): void {
    const lease = this.#leases.get(key);
    if (lease) lease.left += 1;
  }

  /** A refusal does not hold after the clock was set back. */
  #refusedBefore(key: string): Refused | null {
    const refusal = this.#refusals.get(key);
    const nowUs = this.#nowUs();
    if (!refusal || nowUs < refusal.fromUs || nowUs >= refusal.untilUs) return null;
    return waitFrom(nowUs, refusal);
  }

  /**
   * One lease at a time for each allowance: of several that are taken concurrently all but the last would be lost, and a
   * client with ten concurrent requests would get a third of its rate.
   */
  #leaseOnce(allowance: Allowance): Promise<Refused | null> {
    const pending = this.#pendingLeases.get(allowance.key);
    if (pending) return pending;
    const lease = this.#takeLease(allowance).finally(() => this.#pendingLeases.delete(allowance.key));
    this.#pendingLeases.set(allowance.key, lease);
    return lease;
  }

  /** Returns the refusal, or null with a lease. */
  async #takeLease(allowance: Allowance): Promise<Refused | null> {
    const { key, rate } = allowance;
    const nowUs = this.#nowUs();
    const size = Math.max(1, Math.floor(rate * leaseShare));
    const costUs = BigInt(Math.round((usPerSecond / rate) * size));
    const burstUs = BigInt(this.#burstSeconds * usPerSecond);
    const arrivalUs = await allowance.take({ nowUs, costUs, burstUs });
    if (arrivalUs === undefined) {
      const untilUs = ((await allowance.findArrival()) ?? nowUs) + costUs - burstUs;
      const refusal = { fromUs: nowUs, untilUs };
      remember(this.#refusals, key, refusal);
      return waitFrom(nowUs, refusal);
    }
    const leftUs = burstUs - (arrivalUs - nowUs);
    const leftToAll = Math.floor((Number(leftUs) / usPerSecond) * rate);
    const expiresAtMs = this.#clock.now().getTime() + this.#leaseMs;
    remember(this.#leases, key, { left: size, leftToAll, expiresAtMs });
    return null;
  }

  #nowUs(): bigint {
    return BigInt(this.#clock.now().getTime()) * 1_000n;
  }
}

function waitFrom(nowUs: bigint, { untilUs }: Refusal): Refused {
  return { retryAfterSeconds: Math.max(1, Math.ceil(Number(untilUs - nowUs) / usPerSecond)) };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= keysMax) map.clear();
  map.set(key, value);
}
