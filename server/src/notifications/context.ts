import type { Database } from '../kit/db.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Random } from '../kit/random.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { ChannelBreaker } from './channel-breaker.ts';
import type { ChannelSet } from './channel.ts';

/** Dependencies of sending notices. */
export interface NoticeContext {
  db: Database;
  clock: Clock;
  random: Random;
  newId: () => string;
  log: Log;
  networks: NetworkRegistry;
  merchants: MerchantDirectory;
  channels: ChannelSet;
  channelBreaker: ChannelBreaker;
}
