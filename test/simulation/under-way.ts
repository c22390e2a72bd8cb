import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../server/src/kit/clock.ts';

// Of one machine. One statement runs at a time, so more connections only let more transactions be open at once.
export const connectionsMax = 4;

/** What is over when a statement is: in a transaction, its locks last longer. */
export type Ends = 'statement' | 'transaction';
export type End = (hasFailed?: boolean) => Promise<void>;

/** The statement that a transaction has under way. */
export interface UnderWay {
  end: End;
  /** The clock of its instance. */
  clock: Clock;
}

export const transactions = new AsyncLocalStorage<UnderWay>();

/** The clock of the database's own waits: a transaction that sleeps before it is tried again has nothing under way. */
export const clockOfRetries: Clock = {
  now: () => underWayNow().clock.now(),
  sleep: (ms, signal) => {
    const { end, clock } = underWayNow();
    void end();
    return clock.sleep(ms, signal);
  },
};

function underWayNow(): UnderWay {
  const underWay = transactions.getStore();
  if (!underWay) throw new Error('only a transaction waits');
  return underWay;
}
