import type { Clock } from './clock.ts';

/** What is taken of an allowance, as time: what is used up comes back as time passes (generic cell rate algorithm). */
export interface Take {
  nowUs: bigint;
  /** How long it takes until as much has come back. */
  costUs: bigint;
  /** How long it takes until all has come back. */
  burstUs: bigint;
}

// An arrival further ahead than any allowance can be was written by a clock that was wrong, here or elsewhere: a limit
// that follows it would keep everybody out until that time has come.
const clockSkewMaxUs = 1_000_000n;

/**
 * How `INSERT INTO <table> (<key>, arrival_us)` goes on when it takes of an allowance that all processes share: a row
 * comes back with the new arrival time, or none when the allowance is used up. The values are those of the key, then
 * `takeValues`.
 */
export function takeClause(table: string, key: readonly string[]): string {
  const keyParameters = key.map((_column, place) => `$${place + 1}`).join(', ');
  const [now, cost, burst, wrong] = [1, 2, 3, 4].map((place) => `$${key.length + place}::bigint`);
  const arrival = `${table}.arrival_us`;
  return `VALUES (${keyParameters}, ${now} + ${cost})
          ON CONFLICT (${key.join(', ')}) DO UPDATE
          SET arrival_us = CASE WHEN ${arrival} > ${wrong} THEN ${now} ELSE GREATEST(${arrival}, ${now}) END + ${cost}
          WHERE ${arrival} > ${wrong} OR GREATEST(${arrival}, ${now}) + ${cost} - ${now} <= ${burst}
          RETURNING arrival_us AS "arrivalUs"`;
}

/** @see takeClause */
export function takeValues({ nowUs, costUs, burstUs }: Take): bigint[] {
  return [nowUs, costUs, burstUs, nowUs + burstUs + clockSkewMaxUs];
}

/** One allowance: its row, which all processes share, and how fast it comes back. */
export interface Allowance {
  /** Tells it from the others. */
  key: string;
  /** How many a second come back, above 0. */
  rate: number;
  /** Answers the new arrival time, or nothing when the allowance is used up. */
  take(take: Take): Promise<bigint | undefined>;
  findArrival(): Promise<bigint | undefined>;
}

/** `left` to all processes, or how long to wait. */
export type Taken = { left: number } | Refused;

interface Refused {
  retryAfterSeconds: number;
}

// A process takes this share of a second's allowance at once, so that most callers ask nobody; what it does not use
// within the second is lost, which is the error of the shared limit.
const leaseShare = 0.04;
const usualLeaseMs = 1_000;
const keysMax = 10_000;
const usPerSecond = 1_000_000;

interface Lease {
  left: number;
  /** What was left to all processes together when this one took its lease. */
  leftToAll: number;
  expiresAtMs: number;
}

/** Between the two the allowance is known to be used up, so the database need not be asked again. */
interface Refusal {
  fromUs: bigint;
  untilUs: bigint;
}

/** Takes of allowances that all processes share, and asks the database as seldom as it can. */
export class SharedAllowances {
  readonly #clock: Clock;
  readonly #burstSeconds: number;
  readonly #leaseMs: number;
  readonly #leases = new Map<string, Lease>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #asked = new Map<string, Promise<Refused | null>>();

  /**
   * `burstSeconds`: how many seconds' worth may be taken at once. `leaseMs`: how long a process may use what it has taken;
   * a second, unless most of it is given back.
   */
  constructor(clock: Clock, { burstSeconds, leaseMs }: { burstSeconds: number; leaseMs?: number }) {
    this.#clock = clock;
    this.#burstSeconds = burstSeconds;
    this.#leaseMs = leaseMs ?? usualLeaseMs;
  }

  /** Takes one. */
  async take(allowance: Allowance): Promise<Taken> {
    const { key } = allowance;
    for (;;) {
      const lease = this.#leases.get(key);
      if (lease && lease.left > 0 && lease.expiresAtMs > this.#clock.now().getTime()) {
        lease.left -= 1;
        return { left: lease.left + lease.leftToAll };
      }
      const refused = this.#refusedBefore(key) ?? (await this.#askOnce(allowance));
      if (refused) return refused;
    }
  }

  /** Returns one that was taken and turned out not to count, to whoever takes next at this process. */
  giveBack(key: string): void {
    const lease = this.#leases.get(key);
    if (lease) lease.left += 1;
  }

  /** A clock that was set back must not keep anybody out. */
  #refusedBefore(key: string): Refused | null {
    const refusal = this.#refusals.get(key);
    const nowUs = this.#nowUs();
    if (!refusal || nowUs < refusal.fromUs || nowUs >= refusal.untilUs) return null;
    return waitFrom(nowUs, refusal);
  }

  /**
   * One lease at a time for each allowance: of several that were taken side by side all but the last would be lost, and
   * a client with ten requests under way would get a third of its rate.
   */
  #askOnce(allowance: Allowance): Promise<Refused | null> {
    const asked = this.#asked.get(allowance.key);
    if (asked) return asked;
    const asking = this.#ask(allowance).finally(() => this.#asked.delete(allowance.key));
    this.#asked.set(allowance.key, asking);
    return asking;
  }

  /** Answers the refusal, or null once there is a lease. */
  async #ask(allowance: Allowance): Promise<Refused | null> {
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
