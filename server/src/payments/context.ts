import type { WorkContext } from '../events/outbox.ts';
import type { ChangeFeed, Topic } from '../kit/changes.ts';
import type { Database } from '../kit/db.ts';
import type { ListReader } from '../kit/list-reader.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Random } from '../kit/random.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { NetworkRegistry } from '../networks/registry.ts';

/** What the payments' use-cases work with. */
export interface PaymentContext extends WorkContext {
  db: Database;
  random: Random;
  networks: NetworkRegistry;
  merchants: MerchantDirectory;
  changes: ChangeFeed;
  log: Log;
  lists: ListReader;
  settings: PaymentSettings;
}

export interface PaymentSettings {
  /** Where payers reach this service, no slash at its end; a function, because a port is known once it listens. */
  publicUrl: () => string;
  /** Where networks reach it. */
  callbackBaseUrl: () => string;
  intentLifetimeMs: number;
  /** How long collected money waits before it can be paid out; 0 is not at all. */
  settlementDelayMs: number;
  amountMinMinor: bigint;
  amountMaxMinor: bigint;
  /** Keys ids that are made from something guessable. */
  idSecret: string;
  /** Keys the checks in the QR codes of counters. */
  terminalKey: string;
  /** What merchants may give as URLs, for each environment. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
}

/** The change feed's topic for everything that a payer or merchant sees of one intent. */
export function intentTopic(intentId: string): Topic {
  return `intent:${intentId}`;
}
