import type { ReceivedEvent } from './event-receiver.ts';
import { systemClock } from '../../server/src/kit/clock.ts';

const timeoutMs = 180_000;

/** Records the events that a receiver gets, from each `count` or `receivedAtByObject` on. */
export class Arrivals {
  #byObject = new Map<string, number>();
  #events = new Set<string>();
  #times: number[] = [];
  #sample: ReceivedEvent | null = null;
  #isOfObjects = false;
  #expected = Infinity;
  #onComplete: () => void = () => {};

  record(event: ReceivedEvent): 'respond' {
    this.#sample ??= event;
    if (this.#isOfObjects) {
      const { data } = JSON.parse(event.body.toString()) as { data: { id: string } };
      if (!this.#byObject.has(data.id)) this.#byObject.set(data.id, event.atMs);
    } else {
      this.#events.add(String(event.headers['webhook-id']));
      this.#times.push(event.atMs);
    }
    if (this.#events.size >= this.#expected) this.#onComplete();
    return 'respond';
  }

  /** Starts to record when the first event of each object arrives, in milliseconds of the wall clock. */
  receivedAtByObject(): Map<string, number> {
    this.#isOfObjects = true;
    this.#byObject = new Map();
    return this.#byObject;
  }

  /** Starts to count events. Resolves once this many have arrived, with the number a second. */
  async count(expected: number): Promise<number> {
    this.#isOfObjects = false;
    this.#events = new Set();
    this.#times = [];
    this.#sample = null;
    this.#expected = expected;
    const completed = Promise.withResolvers<void>();
    this.#onComplete = completed.resolve;
    const timeout = new AbortController();
    await Promise.race([completed.promise, systemClock.sleep(timeoutMs, timeout.signal)]);
    timeout.abort();
    if (this.#events.size < expected) throw new Error(`only ${this.#events.size} of ${expected} deliveries arrived`);
    const [first = 0, last = 0] = [this.#times[0], this.#times.at(-1)];
    return ((this.#times.length - 1) / (last - first)) * 1_000;
  }

  /** The first event of the last count. */
  get sample(): ReceivedEvent {
    if (!this.#sample) throw new Error('no event has arrived yet');
    return this.#sample;
  }

  /** The number of repeated deliveries. */
  get repeated(): number {
    return this.#times.length - this.#events.size;
  }
}
