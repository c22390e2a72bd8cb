import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import type { ListReader } from '../kit/list-reader.ts';
import type { NetworkRegistry } from '../networks/registry.ts';

/** Somebody who gets a percentage of payments, and where it is paid out to. */
export interface SubAccount {
  merchantId: string;
  id: string;
  name: string;
  percentHundredths: bigint;
  /** The network that pays them out. */
  settlementCode: string;
  /** Their number there: as it was sent, and its canonical form. */
  accountNumber: string;
  accountCanonical: string;
  /** A paused one is refused by new payments and keeps what it has. */
  active: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Sub-accounts that share payments, by percentages of the group's own. */
export interface SubAccountGroup {
  merchantId: string;
  id: string;
  name: string;
  /** In the order in which they were named. */
  members: GroupMember[];
  createdAt: Date;
  updatedAt: Date;
}

export interface GroupMember {
  subAccountId: string;
  /** The sub-account's, as it is now. */
  name: string;
  percentHundredths: bigint;
}

/** What the use-cases of sub-accounts work with. */
export interface SubAccountContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  networks: NetworkRegistry;
  /** The part of the merchants' directory that is needed here: in which currency a merchant collects. */
  merchants: { byId(id: string, tx?: Queryable): Promise<{ currency: string } | undefined> };
  lists: ListReader;
}
