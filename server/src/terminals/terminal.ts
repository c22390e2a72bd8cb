import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import type { ListReader } from '../kit/list-reader.ts';

/** A counter with a QR code of its own. */
export interface VirtualTerminal {
  merchantId: string;
  id: string;
  name: string;
  /** Seven digits, for those who type it; no other terminal of any merchant has or had it. */
  code: string;
  /** Who is told of each payment: as they were sent, and E.164 beside them in the same order. */
  chatNumbers: string[];
  chatCanonical: string[];
  /** One that is off takes no money, and its page says so. */
  active: boolean;
  /** New payments a second from its page, where the operator has set them; 0 is no limit. */
  rateLimit: bigint | null;
  createdAt: Date;
  updatedAt: Date;
  /** Its page still says what it was. */
  deletedAt: Date | null;
}

/** How the newest message to a number fared. */
export interface ChatDelivery {
  status: string;
  updatedAt: Date;
  failure: string | null;
}

/**
 * The newest message to each number (E.164) of each of these terminals; a number that was sent nothing is not there. Handed
 * in from above, because messages are about payments.
 */
export type ChatDeliveryReader = (
  db: Queryable,
  merchantId: string,
  terminalIds: readonly string[],
) => Promise<ReadonlyMap<string, ReadonlyMap<string, ChatDelivery>>>;

/** What the addresses of terminals are made with. */
export interface TerminalAddressSettings {
  /** Where payers reach this service, no slash at its end. */
  publicUrl: () => string;
  /** Keys the checks in QR codes. */
  terminalKey: string;
}

/** What the use-cases of terminals work with. */
export interface TerminalContext {
  db: Database;
  clock: Clock;
  random: Random;
  newId: () => string;
  lists: ListReader;
  chatDelivery: ChatDeliveryReader;
  settings: TerminalAddressSettings;
}
