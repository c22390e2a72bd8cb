import type { Clock } from '../kit/clock.ts';
import type { Log, LogFields } from '../kit/log.ts';

// A receiver that is down fails hundreds of attempts; the operator needs to know once, and that it goes on.
const quietMs = 60_000;
const endpointsMax = 10_000;

interface Told {
  atMs: number;
  /** Attempts that failed since then, untold. */
  untold: number;
}

/** Tells the operator of failed attempts: at most one line a minute for each endpoint, with how many it stands for. */
export class FailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #told = new Map<string, Told>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `fields` names neither the address nor what was sent: both may hold secrets. */
  tell(endpointId: string, fields: LogFields): void {
    const nowMs = this.#clock.now().getTime();
    const told = this.#told.get(endpointId);
    if (told !== undefined && nowMs - told.atMs < quietMs) {
      told.untold += 1;
      return;
    }
    if (this.#told.size >= endpointsMax) this.#told.clear();
    this.#told.set(endpointId, { atMs: nowMs, untold: 0 });
    const count = (told?.untold ?? 0) + 1;
    this.#log.warn('a webhook could not be delivered', { endpoint_id: endpointId, count, ...fields });
  }
}
