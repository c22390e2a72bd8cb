import type { Clock } from '../kit/clock.ts';
import type { Transaction, Database } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import type { Sealer } from '../kit/seal.ts';

/** A mail to a person, written in the transaction of its cause. */
export interface AccountMail {
  to: string;
  subject: string;
  text: string;
}

/** What logins need. */
export interface AccountContext {
  db: Database;
  clock: Clock;
  random: Random;
  newId: () => string;
  sealer: Sealer;
  /** `KEY_PEPPER`: keys the hashes of what is short enough to be guessed. */
  pepper: Uint8Array;
  publicUrl: () => string;
  sendMail: (tx: Transaction, mail: AccountMail) => void;
}
