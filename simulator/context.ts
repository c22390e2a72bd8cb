import type { Clock } from '../server/src/kit/clock.ts';
import type { Database } from '../server/src/kit/db.ts';
import type { Random } from '../server/src/kit/random.ts';

/** What the simulator's functions work with. */
export interface SimulatorContext {
  db: Database;
  clock: Clock;
  random: Random;
  /** Where payers reach the simulated networks' pages, without a slash at the end. */
  publicUrl: () => string;
  /** Called once a callback has been written that is due now. */
  notifySender: () => void;
}
