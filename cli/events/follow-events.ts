import type { Clock } from '../../server/src/kit/clock.ts';
import { firstIdAt, timestampOf } from '../../server/src/kit/ids.ts';
import { eventPage, readResponse, type EventRow } from '../api/responses.ts';
import { ApiUnavailable, type Api, type ApiResponse } from '../api/client.ts';
import type { ApiSettings } from '../api/settings.ts';
import type { Output } from '../output.ts';
import { readEvents, type EventWithBody } from './event-body.ts';
import { pageRowsMax } from './event-row.ts';
import { retryDelayMs } from './retry-delay.ts';

export interface FollowOptions {
  api: Api;
  clock: Clock;
  signal: AbortSignal;
  /** None: all kinds. */
  kinds: readonly string[];
  /** The start: a moment, or `now` for new events only. */
  since: Date | 'now';
  /** Called once the start is fixed; events follow after it has resolved. */
  onReady?: () => void | Promise<void>;
  /** Called once when the API becomes unreachable; `onRecovered` once it is back. */
  onUnavailable: (message: string) => void;
  onRecovered: () => void;
}

/** Prints to standard error when the API becomes unreachable and when it is back. */
export function outageReporter(
  output: Output,
  { url }: ApiSettings,
): Pick<FollowOptions, 'onUnavailable' | 'onRecovered'> {
  return {
    onUnavailable: (message) => output.note(`${message} Retrying until it works.`),
    onRecovered: () => output.note(`${url} is reachable again.`),
  };
}

// Short enough not to be noticed; four small reads a second are no load for the service.
const pollEveryMs = 250;
// Several processes create ids, which become visible at their commits, so that a smaller id can appear after a larger one:
// almost always within the shorter window, which each poll reads again; the longer one is read every ten seconds.
const lookbackMs = { usual: 2_000, thorough: 60_000 };
const fullLookbackEveryMs = 10_000;
// The clock of a process may be ahead, and after it was set back its ids stay ahead until it gets there: so the longer window ends
// at the time of the last response if the newest event is later. Where that is the wrong clock, it costs no more than this.
const clockAheadMaxMs = 3_600_000;

/** Yields each event once, ordered by id as far as visible, until the signal aborts. Waits while the API is unreachable. */
export async function* followEvents(options: FollowOptions): AsyncGenerator<EventWithBody> {
  const { clock, signal, kinds, since } = options;
  const cursor = new EventCursor(since === 'now' ? null : since);
  if (since === 'now') await withRetries(options, () => cursor.startFromNow(options.api));
  if (!signal.aborted) await options.onReady?.();
  let fullLookbackAtMs = clock.now().getTime();
  while (!signal.aborted) {
    const nowMs = clock.now().getTime();
    const isFullLookback = nowMs >= fullLookbackAtMs;
    if (isFullLookback) fullLookbackAtMs = nowMs + fullLookbackEveryMs;
    let after = isFullLookback ? cursor.fullLookbackFromId() : cursor.lookbackFromId();
    let isLast = false;
    while (!isLast && !signal.aborted) {
      const startId = after;
      const page = await withRetries(options, async () => readEvents((await readPage(options, cursor, startId)).text));
      for (const event of page ?? []) {
        if (cursor.recordIfNew(event.row) && (kinds.length === 0 || kinds.includes(event.row.event))) yield event;
      }
      after = page?.at(-1)?.row.id ?? after;
      isLast = (page?.length ?? 0) < pageRowsMax;
    }
    cursor.prune();
    await clock.sleep(pollEveryMs, signal);
  }
}

async function readPage({ api, kinds }: FollowOptions, cursor: EventCursor, after: string): Promise<ApiResponse> {
  const [kind, ...others] = kinds;
  const query = { after, limit: pageRowsMax, ...(others.length === 0 ? { event: kind } : {}) };
  const response = await api.get('/v1/events', query);
  cursor.recordTime(response);
  return response;
}

/** Retries while the API is unavailable; undefined once the signal aborts. Throws ApiError for a refusal. */
async function withRetries<Result>(
  options: FollowOptions,
  request: () => Promise<Result>,
): Promise<Result | undefined> {
  const { clock, signal, onUnavailable, onRecovered } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const response = await request();
      if (failures > 0) onRecovered();
      return response;
    } catch (error) {
      if (!(error instanceof ApiUnavailable)) throw error;
      if (signal.aborted) return undefined;
      if (failures === 0) onUnavailable(error.message);
      await clock.sleep(retryDelayMs(failures), signal);
    }
  }
  return undefined;
}

/** The reading position, and the ids seen within the longer window. */
class EventCursor {
  /** Ids up to this one are never new. */
  #startId: string;
  #newestMs: number;
  /** The service's time: nobody knows whose clock is right, but only the service's make ids. */
  #nowMs = Infinity;
  readonly #seen = new Set<string>();

  constructor(since: Date | null) {
    this.#startId = firstIdAt(since ?? new Date(0));
    this.#newestMs = since?.getTime() ?? 0;
  }

  /** Marks all visible events as seen. Without any, every event is new. */
  async startFromNow(api: Api): Promise<void> {
    const response = await api.get('/v1/events', { limit: 1 });
    this.recordTime(response);
    const [newest] = readResponse(eventPage, response.body).data;
    if (!newest) return;
    this.#newestMs = timestampOf(newest.id).getTime();
    const startId = this.fullLookbackFromId();
    const ids: string[] = [];
    for (let after = startId; ;) {
      const { body } = await api.get('/v1/events', { after, limit: pageRowsMax });
      const page = readResponse(eventPage, body).data;
      ids.push(...page.map(({ id }) => id).filter((id) => id <= newest.id));
      const last = page.at(-1);
      if (page.length < pageRowsMax || !last || last.id > newest.id) break;
      after = last.id;
    }
    for (const id of ids) this.#seen.add(id);
    this.#startId = startId;
  }

  recordTime({ at }: ApiResponse): void {
    if (at !== null) this.#nowMs = at.getTime();
  }

  lookbackFromId(): string {
    return this.#fromId(this.#newestMs - lookbackMs.usual);
  }

  fullLookbackFromId(): string {
    const endMs = Math.max(Math.min(this.#newestMs, this.#nowMs), this.#newestMs - clockAheadMaxMs);
    return this.#fromId(endMs - lookbackMs.thorough);
  }

  #fromId(ms: number): string {
    const id = firstIdAt(new Date(Math.max(0, ms)));
    return id > this.#startId ? id : this.#startId;
  }

  recordIfNew({ id }: EventRow): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    this.#newestMs = Math.max(this.#newestMs, timestampOf(id).getTime());
    return true;
  }

  /** Forgets ids that no poll reads again. */
  prune(): void {
    // Also where the clock of a process is set back.
    this.#startId = this.fullLookbackFromId();
    for (const id of this.#seen) if (id < this.#startId) this.#seen.delete(id);
  }
}
