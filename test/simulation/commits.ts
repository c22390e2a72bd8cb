import type { Statement } from '../../server/src/kit/db.ts';
import { isUuid } from '../../server/src/kit/ids.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Also of several rows (`server/src/kit/merged-writes.ts`). */
const inserts = /^(events|audit_entries|payment_intents|transfers)_insert(_x\d+)?$/;

/** The ids of such rows that the statement writes, among those of others that stand in them and are older. */
export function writtenIds({ name, values }: Statement): string[] {
  return inserts.test(name) ? values.filter((value) => typeof value === 'string').filter(isUuid) : [];
}

/** From the begin of a transaction until it was committed. */
interface Written {
  beganMs: number;
  committedMs: number;
}

/** When events, audit entries, payments and transfers were written, by the time that has passed: what they say themselves is by clocks that jump. */
export class Commits {
  readonly #written = new Map<string, Written>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** At the begin of a transaction; call what it returns with what the transaction has committed. */
  begin(): (ids: readonly string[]) => void {
    const { passedMs: beganMs } = this.#clock;
    return (ids) => {
      for (const id of ids)
        if (!this.#written.has(id)) this.#written.set(id, { beganMs, committedMs: this.#clock.passedMs });
    };
  }

  /** At the beginning of all where it was written past the service. */
  of(id: string): Written {
    return this.#written.get(id) ?? { beganMs: 0, committedMs: 0 };
  }
}
