import type { Clock } from '../kit/clock.ts';
import type { Log, LogFields } from '../kit/log.ts';

// A receiver that is down fails hundreds of attempts; the operator needs to know once, and that it goes on.
const quietMs = 60_000;
const endpointsMax = 10_000;

interface Reported {
  atMs: number;
  /** Attempts that failed since then without a line of their own. */
  unreported: number;
}

/** Logs failed attempts: at most one line a minute for each endpoint, with how many it stands for. */
export class FailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #reported = new Map<string, Reported>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `fields` names neither the address nor what was sent: both may hold secrets. */
  report(endpointId: string, fields: LogFields): void {
    const nowMs = this.#clock.now().getTime();
    const reported = this.#reported.get(endpointId);
    if (reported !== undefined && nowMs - reported.atMs < quietMs) {
      reported.unreported += 1;
      return;
    }
    if (this.#reported.size >= endpointsMax) this.#reported.clear();
    this.#reported.set(endpointId, { atMs: nowMs, unreported: 0 });
    const count = (reported?.unreported ?? 0) + 1;
    this.#log.warn('a webhook could not be delivered', { endpoint_id: endpointId, count, ...fields });
  }
}
