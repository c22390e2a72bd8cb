import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import type { ListReader } from '../api/list-reader.ts';
import type { NetworkRegistry } from '../networks/registry.ts';

/** A recipient of a percentage of payments, and where it is paid out to. */
export interface SubAccount {
  merchantId: string;
  id: string;
  name: string;
  percentHundredths: bigint;
  /** The network of its payouts. */
  settlementCode: string;
  /** Its account number there, as it was sent and in its canonical form. */
  accountNumber: string;
  accountCanonical: string;
  /** When the network or the number was changed last; null: never. */
  destinationChangedAt: Date | null;
  /** False while it is paused: new payments that name it are refused, and it keeps its balance. */
  active: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Sub-accounts that share payments, by the group's own percentages. */
export interface SubAccountGroup {
  merchantId: string;
  id: string;
  name: string;
  /** In the order of the request. */
  members: GroupMember[];
  createdAt: Date;
  updatedAt: Date;
}

export interface GroupMember {
  subAccountId: string;
  /** The sub-account's current name. */
  name: string;
  percentHundredths: bigint;
}

/** What the use-cases of sub-accounts work with. */
export interface SubAccountContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  networks: NetworkRegistry;
  /** In which currency a merchant collects. */
  merchants: { byId(id: string, tx?: Queryable): Promise<{ currency: string } | undefined> };
  lists: ListReader;
}
