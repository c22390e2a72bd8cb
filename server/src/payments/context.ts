import type { EventContext } from '../events/append-event.ts';
import type { OutcomeObserver } from '../events/outcome.ts';
import type { ChangeFeed, Topic } from '../kit/changes.ts';
import type { Database } from '../kit/db.ts';
import type { ListReader } from '../api/list-reader.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Random } from '../kit/random.ts';
import type { SharedCommits } from '../kit/shared-commits.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { NetworkRegistry } from '../networks/registry.ts';

/** What the payments' use cases need. */
export interface PaymentContext extends EventContext, OutcomeObserver {
  db: Database;
  random: Random;
  networks: NetworkRegistry;
  merchants: MerchantDirectory;
  /** Of changes that lock one payment, for each merchant. */
  sharedCommits: SharedCommits;
  changes: ChangeFeed;
  log: Log;
  lists: ListReader;
  settings: PaymentSettings;
}

export interface PaymentSettings {
  /** Where payers reach this service, without a slash at the end; a function, because the port is known once it listens. */
  publicUrl: () => string;
  /** Where the networks of a rail account reach it. */
  callbackBaseUrl: (railAccount: string) => string;
  intentLifetimeMs: number;
  /** How long collected money waits before it can be paid out; 0 for no delay. */
  settlementDelayMs: number;
  amountMinMinor: bigint;
  amountMaxMinor: bigint;
  /** The key of ids that are made from guessable values. */
  idSecret: string;
  /** The key of the checks in the QR codes of counters. */
  terminalKey: string;
  /** Which URLs merchants may send, by environment. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
}

/** The change feed's topic for changes that the payer or the merchant sees of one intent. */
export function intentTopic(intentId: string): Topic {
  return `intent:${intentId}`;
}

/** The topic of all payments of a merchant, for lists that stay up to date. */
export function paymentsTopic(merchantId: string): Topic {
  return `payments:${merchantId}`;
}

/** Notifies those who look at an intent, and at the list of its merchant's payments. Never inside a transaction. */
export function notifyOfIntent(
  { changes }: Pick<PaymentContext, 'changes'>,
  { merchantId, id }: { merchantId: string; id: string },
): void {
  changes.notify(intentTopic(id));
  changes.notify(paymentsTopic(merchantId));
}
