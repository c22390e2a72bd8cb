import type { Clock } from '../kit/clock.ts';
import type { JsonObject } from '../kit/strict-json.ts';
import type { Connector } from './contract.ts';

/** What a rail account can speak: one API, or the messages that a shop's phone receives. One line of `connector-kinds.ts`. */
export interface ConnectorKind {
  /** As the operator types it: `gsma`. */
  readonly name: string;
  readonly displayName: string;
  /** Of several accounts for a network, an API goes before receipts. */
  readonly source: 'api' | 'receipts';
  /** Whether it calls an address. */
  readonly hasBaseUrl: boolean;
  /** Whether an account always belongs to one business. */
  readonly needsBusiness: boolean;
  readonly fields: readonly KindField[];
  /** The networks that an account with these settings serves. Throws Error, in a sentence, for settings that are wrong. */
  networksOf(settings: JsonObject): readonly string[];
  /** What such an account does at its networks, as `refunds on aps`; absent where no setting turns any of it off. */
  operationsOf?(settings: JsonObject): readonly string[];
  /** Connects an account whose settings `networksOf` accepts. */
  connect(setup: AccountSetup): AccountConnection;
}

/** A field that sets up an account: an option of the operator's command, and a field of the console's form. */
export interface KindField {
  /** `api-key`: the option's name, and the name under which the value is stored. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** A `secret` is sealed and never shown again; `json` is a file. */
  readonly type: 'secret' | 'text' | 'json';
  /** The texts that it may have; absent for any. */
  readonly choices?: readonly string[];
  readonly isRequired: boolean;
}

export interface AccountSetup {
  readonly railAccount: string;
  readonly testMode: boolean;
  readonly merchantId: string | null;
  /** Without a slash at its end; empty where the kind has none. */
  readonly baseUrl: string;
  /** By the names of the fields. */
  readonly settings: JsonObject;
  /** What its amounts must be a multiple of; null is the kind's own rule. */
  readonly amountStepMinor: bigint | null;
  readonly credentials: AccountCredentials;
  readonly clock: Clock;
}

/** The secrets of an account, by the names of their fields. */
export interface AccountCredentials {
  /** The newest value; null where the account has none. */
  current(field: string): string | null;
  /** The values that verify callbacks at a time: the newest first, then older ones while a rotation overlaps. */
  validAt(field: string, at: Date): readonly string[];
}

/** An account that is connected. It holds connections open until it is closed. */
export interface AccountConnection {
  /** One for each network that it serves. */
  readonly connectors: readonly Connector[];
  /** Makes a call that moves nothing and says in words what came of it. */
  check(): Promise<AccountCheck>;
  close(): Promise<void>;
}

export interface AccountCheck {
  works: boolean;
  /** One sentence: what answered, or what is wrong and where to look. */
  text: string;
}
