import type { WorkContext } from '../events/outbox.ts';
import type { Database } from '../kit/db.ts';
import type { ListReader } from '../kit/list-reader.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Random } from '../kit/random.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { BreakerContext } from '../networks/payout-breakers.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { TransferOwner } from './transfer-kinds.ts';
import type { TransferKind } from './transfer.ts';

/** What the transfers' use-cases work with. */
export interface TransferContext extends WorkContext, BreakerContext {
  db: Database;
  random: Random;
  networks: NetworkRegistry;
  merchants: MerchantDirectory;
  log: Log;
  lists: ListReader;
  settings: TransferSettings;
  /** Who hears of the ends of transfers that are not the merchant's own orders. */
  transferOwners: Partial<Record<TransferKind, TransferOwner>>;
}

export interface TransferSettings {
  /** Where networks reach this service, no slash at its end. */
  callbackBaseUrl: () => string;
  amountMinMinor: bigint;
  amountMaxMinor: bigint;
  /** What merchants may give as URLs, for each environment. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
}
