import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import type { ListReader } from '../api/list-reader.ts';

/** A counter with its own QR code. */
export interface VirtualTerminal {
  merchantId: string;
  id: string;
  name: string;
  /** Seven digits that payers can type. Unique across all merchants and never reused. */
  code: string;
  /** The numbers that are notified of each payment: as sent, and as E.164 in the same order. */
  chatNumbers: string[];
  chatCanonical: string[];
  /** An inactive terminal accepts no payments, and its page says so. */
  active: boolean;
  /** New payments a second from its page; null applies the merchant's limit, 0 is no limit. */
  rateLimit: bigint | null;
  createdAt: Date;
  updatedAt: Date;
  /** The page of a deleted terminal says so. */
  deletedAt: Date | null;
}

/** The delivery of the newest message to a number. */
export interface ChatDelivery {
  status: string;
  updatedAt: Date;
  failure: string | null;
}

/**
 * Reads the newest message to each number (E.164) of each of these terminals; a number without a message is absent. Passed in,
 * because messages depend on payments, and payments on terminals.
 */
export type ChatDeliveryReader = (
  db: Queryable,
  merchantId: string,
  terminalIds: readonly string[],
) => Promise<ReadonlyMap<string, ReadonlyMap<string, ChatDelivery>>>;

export interface TerminalAddressSettings {
  /** Where payers reach this service, without a trailing slash. */
  publicUrl: () => string;
  /** The key of the checks in QR codes. */
  terminalKey: string;
}

export interface TerminalContext {
  db: Database;
  clock: Clock;
  random: Random;
  newId: () => string;
  lists: ListReader;
  chatDelivery: ChatDeliveryReader;
  settings: TerminalAddressSettings;
}
