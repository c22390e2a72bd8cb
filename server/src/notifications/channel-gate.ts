import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import type { ChannelName } from './channel.ts';
import { deleteChannelStop, insertChannelStopOnce, listChannelStops, takeProbe, updateChannelStop } from './queries.ts';
import type { ChannelStop } from './queries.ts';

export type Passage =
  /** `isProbe`: what becomes of this send decides about the stop. */
  { isOpen: true; isProbe: boolean } | { isOpen: false; retryAt: Date; reason: string };

// A person puts it right in minutes or hours; a notice lives for one hour, so twelve of them are spent on trying.
const probeEveryMs = 5 * 60_000;
// Longer than a probe takes: who comes meanwhile comes again, and one that was lost is made anew.
const probeLeaseMs = 15_000;
// What a channel asks for when it is told too much at once; a longer wait would be a stop.
const holdMaxMs = 10 * 60_000;

/**
 * Whether a channel takes messages at all. A stop is a row that all processes share, said once in the log, in the
 * metrics and at /readyz; it ends when a probe is taken. A hold (too many messages at once) is this process's own, and
 * passes by itself.
 */
export class ChannelGate {
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
  async pass(channel: ChannelName): Promise<Passage> {
    const now = this.#clock.now();
    const holdEndsAt = this.#holds.get(channel);
    if (holdEndsAt !== undefined && holdEndsAt > now) {
      return { isOpen: false, retryAt: holdEndsAt, reason: 'The channel takes no message at the moment.' };
    }
    const stop = (await this.stops()).find((found) => found.channel === channel);
    if (!stop) return { isOpen: true, isProbe: false };
    const leaseEndsAt = addMs(now, probeLeaseMs);
    const isProbe = (await takeProbe(this.#db, { channel, now, leaseEndsAt })) === 1;
    if (isProbe) return { isOpen: true, isProbe };
    // The copy may be behind the end of the stop, or behind the one who took the probe.
    this.#copy.forget();
    const current = (await this.stops()).find((found) => found.channel === channel);
    if (!current) return { isOpen: true, isProbe: false };
    return { isOpen: false, retryAt: current.retryAt > now ? current.retryAt : leaseEndsAt, reason: current.reason };
  }

  /** Everybody waits for a moment. */
  hold(channel: ChannelName, ms: number): void {
    this.#holds.set(channel, addMs(this.#clock.now(), Math.min(ms, holdMaxMs)));
  }

  async stop(channel: ChannelName, scope: ChannelStop['scope'], reason: string): Promise<void> {
    const now = this.#clock.now();
    const stop = { channel, scope, reason, stoppedAt: now, retryAt: addMs(now, probeEveryMs) };
    const isNew = (await insertChannelStopOnce(this.#db, stop)) === 1;
    if (isNew)
      this.#log.error('a chat channel is stopped: no notices go out', undefined, { channel, reason, kind: scope });
    else await updateChannelStop(this.#db, stop);
    this.#copy.forget();
  }

  /** A probe was taken. */
  async open(channel: ChannelName): Promise<void> {
    const isOver = (await deleteChannelStop(this.#db, channel)) === 1;
    if (isOver) this.#log.info('a chat channel takes notices again', { channel });
    this.#copy.forget();
  }

  /** What is stopped, at most a second old. */
  stops(): Promise<ChannelStop[]> {
    return this.#copy.read(this.#clock, () => listChannelStops(this.#db));
  }
}
