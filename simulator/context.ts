import type { Clock } from '../server/src/kit/clock.ts';
import type { Database, Transaction } from '../server/src/kit/db.ts';
import type { Random } from '../server/src/kit/random.ts';
import type { SharedCommits } from '../server/src/kit/shared-commits.ts';
import type { NetworkWires } from './network-wire.ts';

/** What a wire writes in the transaction that creates a session or payout: its own ids of the request. */
export type Alongside<Created> = (tx: Transaction, created: Created) => void;

/** Dependencies of the simulator. */
export interface SimulatorContext {
  db: Database;
  /** Of requests of one account at one network, by their reference. */
  sharedCommits: SharedCommits;
  clock: Clock;
  random: Random;
  /** How the networks speak. */
  wires: NetworkWires;
  /** Called after a callback that is due now has been committed. */
  notifySender: () => void;
}
