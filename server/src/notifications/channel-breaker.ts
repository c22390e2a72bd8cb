import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import type { ChannelName } from './channel.ts';
import {
  acquireTrial,
  deleteChannelStop,
  insertChannelStopOnce,
  listChannelStops,
  updateChannelStop,
  type ChannelStop,
} from './queries.ts';

type ChannelPermit =
  /** `isTrial`: the outcome of this send closes the breaker or keeps it open. */
  { isAllowed: true; isTrial: boolean } | { isAllowed: false; retryAt: Date; reason: string };

// A person fixes the cause in minutes or hours; within a notice's lifetime of an hour this makes twelve trials.
const trialEveryMs = 5 * 60_000;
// Longer than a trial takes: other notices wait for it, and a lost trial is replaced.
const trialLeaseMs = 15_000;
// The longest wait for a rate limit; a channel that asks for more would have to be stopped.
const backOffMaxMs = 10 * 60_000;

/**
 * The circuit breaker of each chat channel. It is open while the channel has a row in `notification_channels`, which all
 * processes share, and shows in the log (once), the metrics and at /readyz; an accepted trial closes it. A back-off (rate
 * limit) is known to this process only and ends by itself.
 */
export class ChannelBreaker {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #backOffs = new Map<ChannelName, Date>();
  readonly #copy = new RecentCopy<ChannelStop[]>();

  constructor({ db, clock, log }: { db: Queryable; clock: Clock; log: Log }) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Acquires permission to send now. Call it right before the send, outside any transaction. */
  async acquirePermit(channel: ChannelName): Promise<ChannelPermit> {
    const now = this.#clock.now();
    const backOffEndsAt = this.#backOffs.get(channel);
    if (backOffEndsAt !== undefined && backOffEndsAt > now) {
      return {
        isAllowed: false,
        retryAt: backOffEndsAt,
        reason: 'The channel does not accept messages at the moment.',
      };
    }
    if (!(await this.#findStop(channel))) return { isAllowed: true, isTrial: false };
    const leaseEndsAt = addMs(now, trialLeaseMs);
    const isTrial = (await acquireTrial(this.#db, { channel, now, leaseEndsAt })) === 1;
    if (isTrial) return { isAllowed: true, isTrial };
    // The copy may not show yet that the breaker has closed, or that another process has the trial.
    this.#copy.forget();
    const current = await this.#findStop(channel);
    if (!current) return { isAllowed: true, isTrial: false };
    return { isAllowed: false, retryAt: current.retryAt > now ? current.retryAt : leaseEndsAt, reason: current.reason };
  }

  /** Makes all notices of this process wait. */
  backOff(channel: ChannelName, ms: number): void {
    this.#backOffs.set(channel, addMs(this.#clock.now(), Math.min(ms, backOffMaxMs)));
  }

  /** Opens the breaker, or keeps it open after a failed trial. */
  async trip(channel: ChannelName, scope: ChannelStop['scope'], reason: string): Promise<void> {
    const now = this.#clock.now();
    const stop = { channel, scope, reason, stoppedAt: now, retryAt: addMs(now, trialEveryMs) };
    const isNew = (await insertChannelStopOnce(this.#db, stop)) === 1;
    if (isNew)
      this.#log.error('a chat channel is stopped: no notices go out', undefined, { channel, reason, kind: scope });
    else await updateChannelStop(this.#db, stop);
    this.#copy.forget();
  }

  /** Closes the breaker after an accepted trial. */
  async reset(channel: ChannelName): Promise<void> {
    const isOver = (await deleteChannelStop(this.#db, channel)) === 1;
    if (isOver) this.#log.info('a chat channel takes notices again', { channel });
    this.#copy.forget();
  }

  /** The open breakers, at most a second old. */
  stops(): Promise<ChannelStop[]> {
    return this.#copy.read(this.#clock, () => listChannelStops(this.#db));
  }

  async #findStop(channel: ChannelName): Promise<ChannelStop | undefined> {
    return (await this.stops()).find((stop) => stop.channel === channel);
  }
}
