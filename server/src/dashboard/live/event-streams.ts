import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangeFeed } from '../../kit/changes.ts';
import { addMs, type Clock } from '../../kit/clock.ts';
import { acceptsEventStream } from '../../kit/head-requests.ts';
import { limitEachKey, type KeyedLimiter } from '../../kit/keyed-limiter.ts';
import type { Log } from '../../kit/log.ts';
import { PublicError } from '../../kit/public-error.ts';
import { OpenStreams, type OpenStream } from '../../pages/open-streams.ts';
import { seeOther } from '../../pages/page-scope.ts';
import type { LiveEvent, LiveFeed } from '../dashboard-route.ts';
import type { Visit } from '../visit.ts';
import { StreamLimits } from './stream-limits.ts';

/** Says that the stream is alive; the page counts a connection without one for 15 seconds as lost. */
const heartbeatMs = 10_000;
// A busy shop's changes come together: at most one read a second for each open page.
const readEveryMs = 1_000;
// A browser that still listens connects again; a stream whose browser has vanished is freed.
const streamMaxMs = 10 * 60_000;
// One payment notifies every open page of its business: at 200 pages, their reads together held up a request by 100 ms.
const readsMax = 2;
// A browser that takes nothing off the line any more.
const unsentBytesMax = 256 * 1_024;

interface EventStreamsOptions {
  changes: ChangeFeed;
  clock: Clock;
  log: Log;
}

interface OpenedStream {
  feed: LiveFeed;
  visit: Visit;
  /** The visit as it is now; null once the session has ended or the role has changed. */
  revisit(): Promise<Visit | null>;
}

/** The open event streams of this process, as many as `StreamLimits` allows. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open: OpenStreams<LiveFeed>;
  readonly #limits = new StreamLimits();
  /** What streams ask of the database, of which they leave connections to requests. */
  readonly #reads: KeyedLimiter<string>;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#open = new OpenStreams(options.changes);
    const { inProcess: waitingMax } = this.#limits;
    this.#reads = limitEachKey({ name: 'reads of event streams', each: readsMax, waitingMax });
  }

  /** Sends a feed until either side ends it. Throws AppError `rate_limited` or `unavailable` when too many are open. */
  async send(request: FastifyRequest, reply: FastifyReply, stream: OpenedStream): Promise<FastifyReply> {
    const { feed, visit } = stream;
    if (!acceptsEventStream(request.raw)) {
      return seeOther(reply, `${visit.base}${feed.page}`);
    }
    const release = this.#limits.take({ accountId: visit.account.id, address: request.ip });
    const write = async (open: OpenStream): Promise<void> => {
      try {
        await this.#write(open, stream);
      } catch (error) {
        // The browser connects again, and reads what it has missed; whoever left the team is refused then.
        if (!(error instanceof PublicError)) this.#options.log.error('an event stream failed', error);
      }
    };
    return this.#open.send(reply, { subject: feed, topics: feed.topics }, write).finally(release);
  }

  /** Ends all streams, so that a closing server does not wait for them. */
  endAll(): void {
    this.#open.endAll();
  }

  async #write({ response, ended, changeSignal }: OpenStream, { feed, visit, revisit }: OpenedStream): Promise<void> {
    const { clock } = this.#options;
    const read = <Result>(body: () => Promise<Result>) => this.#reads.run('all', body);
    const endsAt = addMs(clock.now(), streamMaxMs);
    let current: Visit | null = visit;
    let nextBeatAt = clock.now();
    while (!ended.aborted && current !== null && clock.now() < endsAt && response.writableLength < unsentBytesMax) {
      const seen: Visit = { ...current, now: clock.now() };
      const { now } = seen;
      for (const event of await read(() => feed.read(seen))) response.write(lineOf(event));
      if (now >= nextBeatAt) {
        response.write(lineOf({ name: 'beat', data: now.toISOString().slice(11, 19) }));
        nextBeatAt = addMs(now, heartbeatMs);
      }
      await clock.sleep(readEveryMs, ended);
      await changeSignal.wait((until) => clock.sleep(Math.max(0, nextBeatAt.getTime() - clock.now().getTime()), until));
      // Roles, counters and sessions end within a heartbeat.
      if (!ended.aborted) current = await read(revisit);
    }
  }
}

/** As the standard says: each line of the data on its own. */
function lineOf({ name, data }: LiveEvent): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${name}\n${lines.join('')}\n`;
}
