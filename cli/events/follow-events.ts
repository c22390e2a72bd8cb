import { addMs } from '../../server/src/kit/clock.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import { firstIdAt, momentOf } from '../../server/src/kit/ids.ts';
import { eventPage, readAnswer } from '../api/answers.ts';
import type { EventRow } from '../api/answers.ts';
import { ApiAway } from '../api/client.ts';
import type { Api } from '../api/client.ts';
import type { ApiSettings } from '../api/settings.ts';
import type { Output } from '../output.ts';
import { readEvents } from './event-body.ts';
import type { EventWithBody } from './event-body.ts';
import { pageRowsMax } from './event-row.ts';
import { waitMs } from './wait.ts';

export interface FollowOptions {
  api: Api;
  clock: Clock;
  signal: AbortSignal;
  /** None: all kinds. */
  kinds: readonly string[];
  /** From when on: a moment, or only what happens from now on. */
  since: Date | 'now';
  /** Called when it is known what is new: what happens from then on comes, once this has ended. */
  onReady?: () => void | Promise<void>;
  /** Told once when the API cannot be reached, and once when it is back. */
  onAway: (message: string) => void;
  onBack: () => void;
}

/** Says on standard error when the API goes away, and when it is back. */
export function tellOutages(output: Output, { url }: ApiSettings): Pick<FollowOptions, 'onAway' | 'onBack'> {
  return {
    onAway: (message) => output.note(`${message} Trying again until it works.`),
    onBack: () => output.note(`${url} answers again.`),
  };
}

// A person should not notice the wait, and four small reads a second cost the service nothing.
const pollEveryMs = 250;
// Ids are made by several processes and become visible when their transactions commit, so a smaller one can come after a
// larger one. Almost always within the shorter time, which each poll reads again; the longer one is looked at now and then.
const lookBackMs = { usual: 2_000, thorough: 60_000 };
const thoroughEveryMs = 10_000;

/** Each event once, in the order of ids as far as they are visible, until the signal aborts. Waits while the API is away. */
export async function* followEvents(options: FollowOptions): AsyncGenerator<EventWithBody> {
  const { clock, signal, kinds, since } = options;
  const position = new Position(since === 'now' ? null : since);
  if (since === 'now') await patiently(options, () => position.startNow(options.api));
  if (!signal.aborted) await options.onReady?.();
  let thoroughAtMs = clock.now().getTime();
  while (!signal.aborted) {
    const nowMs = clock.now().getTime();
    const isThorough = nowMs >= thoroughAtMs;
    if (isThorough) thoroughAtMs = nowMs + thoroughEveryMs;
    let after = position.lookFrom(isThorough ? lookBackMs.thorough : lookBackMs.usual);
    let isLast = false;
    while (!isLast && !signal.aborted) {
      const from = after;
      const page = await patiently(options, async () => readEvents((await readPage(options, from)).text));
      for (const event of page ?? []) {
        if (position.isNew(event.row) && (kinds.length === 0 || kinds.includes(event.row.event))) yield event;
      }
      after = page?.at(-1)?.row.id ?? after;
      isLast = (page?.length ?? 0) < pageRowsMax;
    }
    position.forget();
    await clock.sleep(pollEveryMs, signal);
  }
}

function readPage({ api, kinds }: FollowOptions, after: string) {
  const [kind, ...others] = kinds;
  return api.get('/v1/events', { after, limit: pageRowsMax, ...(others.length === 0 ? { event: kind } : {}) });
}

/** Tries until it works; undefined when the signal aborted. What the API refuses is thrown. */
async function patiently<Answer>(options: FollowOptions, ask: () => Promise<Answer>): Promise<Answer | undefined> {
  const { clock, signal, onAway, onBack } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const answer = await ask();
      if (failures > 0) onBack();
      return answer;
    } catch (error) {
      if (!(error instanceof ApiAway)) throw error;
      if (signal.aborted) return undefined;
      if (failures === 0) onAway(error.message);
      await clock.sleep(waitMs(failures), signal);
    }
  }
  return undefined;
}

/** How far one has read, and what one has seen of the last minute. */
class Position {
  /** Nothing at or before it is new, whenever it becomes visible. */
  #startId: string;
  #newestMs: number;
  readonly #seen = new Set<string>();

  constructor(since: Date | null) {
    this.#startId = firstIdAt(since ?? new Date(0));
    this.#newestMs = since?.getTime() ?? 0;
  }

  /** Takes everything that is visible now for seen. Without any event, everything that comes is new. */
  async startNow(api: Api): Promise<void> {
    const { body } = await api.get('/v1/events', { limit: 1 });
    const [newest] = readAnswer(eventPage, body).data;
    if (!newest) return;
    const newestMs = momentOf(newest.id).getTime();
    const startId = firstIdAt(new Date(newestMs - lookBackMs.thorough));
    const ids: string[] = [];
    for (let after = startId; ;) {
      const { body: answer } = await api.get('/v1/events', { after, limit: pageRowsMax });
      const page = readAnswer(eventPage, answer).data;
      ids.push(...page.map(({ id }) => id).filter((id) => id <= newest.id));
      const last = page.at(-1);
      if (page.length < pageRowsMax || !last || last.id > newest.id) break;
      after = last.id;
    }
    for (const id of ids) this.#seen.add(id);
    this.#startId = startId;
    this.#newestMs = newestMs;
  }

  lookFrom(backMs: number): string {
    const from = firstIdAt(addMs(new Date(Math.max(this.#newestMs, backMs)), -backMs));
    return from > this.#startId ? from : this.#startId;
  }

  isNew({ id }: EventRow): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    this.#newestMs = Math.max(this.#newestMs, momentOf(id).getTime());
    return true;
  }

  /** What lies before everything that is read again needs no remembering. */
  forget(): void {
    const oldest = this.lookFrom(lookBackMs.thorough);
    for (const id of this.#seen) if (id < oldest) this.#seen.delete(id);
  }
}
