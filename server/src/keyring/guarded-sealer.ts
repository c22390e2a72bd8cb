import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Sealer } from '../kit/seal.ts';
import type { KeyState } from './key-check.ts';

/** The key state that a process has read last. */
export interface KeyReading {
  state: KeyState;
  /** When the read began, in milliseconds since 1970. */
  readAtMs: number;
}

// A request refreshes a state older than five seconds before its transaction; the rest is for the transaction.
const readingAgeMaxMs = 30_000;
// `statement_timeout` of the service (kit/db.ts): the COMMIT behind a sealed value takes no longer.
const commitMaxMs = 10_000;

/** Milliseconds after which no process seals or commits with a key that the database has not allowed since their start. */
export const sealingEndsWithinMs = readingAgeMaxMs + commitMaxMs;

interface GuardOptions {
  clock: Clock;
  /** Reads the state again if it is out of date. */
  refresh: () => Promise<unknown>;
  lastReading: () => KeyReading;
}

/**
 * Seals only while the sealing key is recorded as in use and this process has all other keys in use: a value sealed with a
 * retired or lost key could never be opened again.
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
      if (ageMs > readingAgeMaxMs) throw refusal('this process has not checked its seal key recently');
      if (!canSeal(state)) throw refusal('SEAL_KEY of this process is wrong or lost; see /readyz');
      return sealer.seal(plain, context);
    },
  };
}

function canSeal({ isSealingKnown, isSealingLost, missingSealKeys }: KeyState): boolean {
  return isSealingKnown && !isSealingLost && missingSealKeys.length === 0;
}

function refusal(internal: string): AppError {
  const message = 'This process of the service cannot encrypt what it would have to store. Try again in a second.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1, internal });
}
