import type { ReceivedEvent } from './event-receiver.ts';
import { systemClock } from '../../server/src/kit/clock.ts';

const timeoutMs = 180_000;

/** What has come to the receiver since it was last asked to begin anew. */
export class Arrivals {
  #byObject = new Map<string, number>();
  #events = new Set<string>();
  #times: number[] = [];
  #sample: ReceivedEvent | null = null;
  #isOfObjects = false;
  #wanted = Infinity;
  #come: () => void = () => {};

  record(event: ReceivedEvent): 'answer' {
    this.#sample ??= event;
    if (this.#isOfObjects) {
      const { data } = JSON.parse(event.body.toString()) as { data: { id: string } };
      if (!this.#byObject.has(data.id)) this.#byObject.set(data.id, event.atMs);
    } else {
      this.#events.add(String(event.headers['webhook-id']));
      this.#times.push(event.atMs);
    }
    if (this.#events.size >= this.#wanted) this.#come();
    return 'answer';
  }

  /** From here on the moments in which events of these objects come are kept. */
  receivedAtByObject(): Map<string, number> {
    this.#isOfObjects = true;
    this.#byObject = new Map();
    return this.#byObject;
  }

  /** From here on events are counted. Resolves when so many have come, with how many came a second. */
  async count(expected: number): Promise<number> {
    this.#isOfObjects = false;
    this.#events = new Set();
    this.#times = [];
    this.#sample = null;
    this.#wanted = expected;
    const completed = Promise.withResolvers<void>();
    this.#come = completed.resolve;
    const gaveUp = new AbortController();
    await Promise.race([completed.promise, systemClock.sleep(timeoutMs, gaveUp.signal)]);
    gaveUp.abort();
    if (this.#events.size < expected) throw new Error(`only ${this.#events.size} of ${expected} deliveries came`);
    const [first = 0, last = 0] = [this.#times[0], this.#times.at(-1)];
    return ((this.#times.length - 1) / (last - first)) * 1_000;
  }

  /** One of those that were counted last, as it came. */
  get sample(): ReceivedEvent {
    if (!this.#sample) throw new Error('nothing has come yet');
    return this.#sample;
  }

  /** How many came again that had come already. */
  get repeated(): number {
    return this.#times.length - this.#events.size;
  }
}
