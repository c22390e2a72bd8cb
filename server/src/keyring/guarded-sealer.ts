import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Sealer } from '../kit/seal.ts';
import type { KeyState } from './key-check.ts';

/** What a process has last read about its keys. */
export interface KeyReading {
  state: KeyState;
  /** When it began to read, in milliseconds since 1970. */
  readAtMs: number;
}

// A request reads again what is older than five seconds before its transaction begins; the rest is for the transaction.
const readingAgeMaxMs = 30_000;
// `statement_timeout` of the service (kit/db.ts): the COMMIT behind a sealed value takes no longer.
const commitMaxMs = 10_000;

/**
 * Milliseconds after which no process seals, or still commits, with a key that the database did not allow it at their
 * beginning.
 */
export const sealingEndsWithinMs = readingAgeMaxMs + commitMaxMs;

interface GuardOptions {
  clock: Clock;
  /** Reads again where the last reading is out of date. */
  refresh: () => Promise<unknown>;
  lastReading: () => KeyReading;
}

/**
 * Seals only while the database has the sealing key as one in use, and this process has all the others: what is sealed with
 * a key that was struck off or lost could never be opened again.
 */
export function guardSealer(sealer: Sealer, { clock, refresh, lastReading }: GuardOptions): Sealer {
  return {
    ...sealer,
    prepare: async () => {
      await refresh();
    },
    seal: (plain, context) => {
      const { state, readAtMs } = lastReading();
      const ageMs = clock.now().getTime() - readAtMs;
      if (ageMs > readingAgeMaxMs) throw refusal('it is too long ago that this process compared its seal key');
      if (!mayBeSealedWith(state)) throw refusal('SEAL_KEY of this process is wrong or lost; see /readyz');
      return sealer.seal(plain, context);
    },
  };
}

function mayBeSealedWith({ isSealingKnown, isSealingLost, missingSealKeys }: KeyState): boolean {
  return isSealingKnown && !isSealingLost && missingSealKeys.length === 0;
}

function refusal(internal: string): AppError {
  const message = 'This process of the service cannot encrypt what it would have to store. Try again in a second.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1, internal });
}
