import type { JsonObject } from '../kit/strict-json.ts';

/** An account at a network or an aggregator that an operator has connected. */
export interface RailAccount {
  /** Stands in the URL of its callbacks and the name of its float, and is never used again. */
  name: string;
  /** What it speaks: `networks/connector-kinds.ts`. */
  kind: string;
  testMode: boolean;
  /** The business that it belongs to and serves; null for the operator's, which serves all. */
  businessId: string | null;
  /** That business in the account's environment. */
  merchantId: string | null;
  /** Null where its kind calls no address. */
  baseUrl: string | null;
  /** What is no secret, by the names of the kind's fields. */
  settings: JsonObject;
  /** The lowest goes first among the accounts of one network; null is the default of its kind and owner. */
  position: bigint | null;
  /** Since when it takes nothing new; null is not at all. */
  disabledAt: Date | null;
  /** Counts the changes. */
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

/** One version of an account's secrets, sealed together. */
export interface SealedCredentials {
  railAccount: string;
  version: bigint;
  sealed: Buffer;
  createdAt: Date;
  /** Until when it verifies callbacks; null for the newest. */
  validUntil: Date | null;
}

/** The secrets of an account by the names of their fields. */
export type Secrets = Readonly<Record<string, string>>;

/** What the amounts of an account must be multiples of. */
export const amountRules = ['whole', 'bututs'] as const;

/** The setting of every kind that sends amounts. */
export const amountsSetting = 'amounts';
