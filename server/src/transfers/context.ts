import type { EventContext } from '../events/append-event.ts';
import type { OutcomeObserver } from '../events/outcome.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { ListReader } from '../api/list-reader.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Random } from '../kit/random.ts';
import type { SharedCommits } from '../kit/shared-commits.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { BreakerContext } from '../networks/payout-breakers.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { LockedTransfer, Transfer, TransferKind } from './transfer.ts';

/** What transfers need from the service. */
export interface TransferContext extends EventContext, BreakerContext, OutcomeObserver {
  db: Database;
  random: Random;
  networks: NetworkRegistry;
  merchants: MerchantDirectory;
  /** Of changes that lock one transfer, for each merchant. */
  sharedCommits: SharedCommits;
  log: Log;
  lists: ListReader;
  settings: TransferSettings;
  /** The parts of the service that are notified of outcomes, by the kind of transfer that they request. */
  transferOwners: Partial<Record<TransferKind, TransferOwner>>;
}

interface TransferSettings {
  /** Where the networks of a rail account reach this service, no slash at its end. */
  callbackBaseUrl: (railAccount: string) => string;
  amountMinMinor: bigint;
  amountMaxMinor: bigint;
  /** What merchants may give as URLs, for each environment. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
}

/** Another part of the service that requests transfers of a kind. Both calls are part of the outcome's transaction. */
export interface TransferOwner {
  /**
   * Locks its records of the transfer, before any account is locked, and returns the ids of the sub-accounts whose accounts
   * it may book to. Called more than once in a transaction.
   */
  lock(tx: Transaction, locked: LockedTransfer): Promise<readonly string[]>;
  /**
   * Applies the end of a transfer, or the reversal of a part of a completed one. The transfer is locked, and its money has
   * been booked.
   */
  changed(tx: Transaction, change: LockedTransfer & { before: Transfer }): Promise<void>;
}
