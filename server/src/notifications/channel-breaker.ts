import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import type { ChannelName } from './channel.ts';
import {
  deleteChannelStop,
  insertChannelStopOnce,
  listChannelStops,
  acquireTrial,
  updateChannelStop,
} from './queries.ts';
import type { ChannelStop } from './queries.ts';

export type ChannelPermit =
  /** `isProbe`: what becomes of this send decides about the stop. */
  { isAllowed: true; isTrial: boolean } | { isAllowed: false; retryAt: Date; reason: string };

// A person puts it right in minutes or hours; a notice lives for one hour, so twelve of them are spent on trying.
const trialEveryMs = 5 * 60_000;
// Longer than a probe takes: who comes meanwhile comes again, and one that was lost is made anew.
const trialLeaseMs = 15_000;
// What a channel asks for when it is told too much at once; a longer wait would be a stop.
const backOffMaxMs = 10 * 60_000;

/**
 * Whether a channel takes messages at all. A stop is a row that all processes share, said once in the log, in the
 * metrics and at /readyz; it ends when a probe is taken. A hold (too many messages at once) is this process's own, and
 * passes by itself.
 */
export class ChannelBreaker {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #holds = new Map<ChannelName, Date>();
  readonly #copy = new RecentCopy<ChannelStop[]>();

  constructor({ db, clock, log }: { db: Queryable; clock: Clock; log: Log }) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Ask right before the send, outside any transaction. */
  async acquirePermit(channel: ChannelName): Promise<ChannelPermit> {
    const now = this.#clock.now();
    const backOffEndsAt = this.#holds.get(channel);
    if (backOffEndsAt !== undefined && backOffEndsAt > now) {
      return { isAllowed: false, retryAt: backOffEndsAt, reason: 'The channel takes no message at the moment.' };
    }
    const trip = (await this.stops()).find((found) => found.channel === channel);
    if (!trip) return { isAllowed: true, isTrial: false };
    const leaseEndsAt = addMs(now, trialLeaseMs);
    const isTrial = (await acquireTrial(this.#db, { channel, now, leaseEndsAt })) === 1;
    if (isTrial) return { isAllowed: true, isTrial };
    // The copy may be behind the end of the stop, or behind the one who took the probe.
    this.#copy.forget();
    const current = (await this.stops()).find((found) => found.channel === channel);
    if (!current) return { isAllowed: true, isTrial: false };
    return { isAllowed: false, retryAt: current.retryAt > now ? current.retryAt : leaseEndsAt, reason: current.reason };
  }

  /** Everybody waits for a moment. */
  backOff(channel: ChannelName, ms: number): void {
    this.#holds.set(channel, addMs(this.#clock.now(), Math.min(ms, backOffMaxMs)));
  }

  async trip(channel: ChannelName, scope: ChannelStop['scope'], reason: string): Promise<void> {
    const now = this.#clock.now();
    const trip = { channel, scope, reason, stoppedAt: now, retryAt: addMs(now, trialEveryMs) };
    const isNew = (await insertChannelStopOnce(this.#db, trip)) === 1;
    if (isNew)
      this.#log.error('a chat channel is stopped: no notices go out', undefined, { channel, reason, kind: scope });
    else await updateChannelStop(this.#db, trip);
    this.#copy.forget();
  }

  /** A probe was taken. */
  async reset(channel: ChannelName): Promise<void> {
    const isOver = (await deleteChannelStop(this.#db, channel)) === 1;
    if (isOver) this.#log.info('a chat channel takes notices again', { channel });
    this.#copy.forget();
  }

  /** What is stopped, at most a second old. */
  stops(): Promise<ChannelStop[]> {
    return this.#copy.read(this.#clock, () => listChannelStops(this.#db));
  }
}
