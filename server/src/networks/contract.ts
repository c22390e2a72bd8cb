import type { IncomingHttpHeaders } from 'node:http';
import type { Operator } from '../kit/phone-number.ts';
import type { StatementSource } from './statement.ts';

/**
 * What every network connector implements, real or simulated. A connector has three parts: `translate.ts` (pure: maps
 * responses and codes to the types below), `client.ts` (transport) and `callback.ts` (pure: turns a raw callback into
 * verified provider notifications).
 *
 * Three rules come first: a response that is missing or not understood is `unknown`, never a failure; a code is
 * `refused` only when the network documents it as final; no connector call happens inside a transaction.
 */
export interface Connector {
  readonly capabilities: Capabilities;
  /** Null where this connector does not collect, because another one does for its network. */
  readonly collections: CollectionOperations | null;
  /** Null where the network cannot pay out, or another connector does for it. */
  readonly payouts: PayoutOperations | null;
  /** Null where the network cannot refund what this connector has collected. */
  readonly refunds: RefundOperations | null;
  /** The account's statement, where the network has one by API; one connector of each account has it. */
  readonly statements?: StatementSource;
  /** The messages of a shop's phone, where they prove what was paid. */
  readonly messages?: MessageSource;
  /** Pure: verifies the signature over the raw bytes and parses the notifications. Never throws. */
  readCallback(callback: RawCallback): CallbackReading;
}

/** Reads the messages that a shop's phone forwards. */
export interface MessageSource {
  /** Pure: verifies the forwarding application's signature and reads the message. Never throws. */
  read(message: RawCallback): MessageReading;
}

/** A text message as a shop's phone received it. */
export interface ForwardedMessage {
  /** As the phone shows it. */
  sender: string;
  text: string;
  /** By the phone's clock. */
  receivedAt: Date;
}

export type MessageReading =
  /** A null message is another event of the forwarding application: a sign of life, or about something else. */
  | { accepted: true; message: ForwardedMessage | null; isSignOfLife?: boolean }
  | { accepted: false; reason: 'signature' | 'stale' | 'malformed' };

/** A connector that collects. */
export type CollectingConnector = Connector & { readonly collections: CollectionOperations };

/** A connector that pays out. */
export type PayoutConnector = Connector & { readonly payouts: PayoutOperations };

export function collects(connector: Connector): connector is CollectingConnector {
  return connector.collections !== null;
}

export function paysOut(connector: Connector): connector is PayoutConnector {
  return connector.payouts !== null;
}

/** How a network collects from a payer. */
export interface CollectionOperations {
  readonly capabilities: CollectionCapabilities;
  start(request: StartCollection): Promise<CollectionResponse>;
  /** The payer typed a code, or confirms the approval. The code stays in memory and is never logged. */
  continue(request: ContinueCollection): Promise<CollectionResponse>;
  /** "Already paid" is returned as `succeeded`, not as an error. */
  cancel(request: LookUp): Promise<CollectionResponse>;
  lookUp(request: LookUp): Promise<CollectionResponse>;
}

/** How a network pays out. Money that has left cannot be called back, so an outcome is never guessed. */
export interface PayoutOperations extends OutgoingOperations<StartPayout, PayoutCapabilities> {
  /**
   * Sends several payouts by one call, where the network has one for that. Idempotent by the batch's reference: the same payouts
   * in the same order are paid once. How each of them ends, its look-up says; that the batch is done says nothing about it.
   */
  startBatch?(batch: PayoutBatch): Promise<PayoutBatchResponse>;
}

/** How a network refunds a collection. The response is that of a payout: money leaves us either way. */
export type RefundOperations = OutgoingOperations<StartRefund, RefundCapabilities, LookUpRefund>;

export interface OutgoingOperations<Request, Limits, Question extends LookUp = LookUp> {
  readonly capabilities: Limits;
  /** Sends money. Idempotent by reference: a repeated request returns the first payout or refund. */
  start(request: Request): Promise<PayoutResponse>;
  lookUp(request: Question): Promise<PayoutResponse>;
}

/**
 * A link, a prompt, a prompt and then "done", a code: the shapes A to D of docs/networks.md, "How a payer approves". With a
 * receipt the money goes straight to the merchant, and the network's message to the merchant's phone proves it.
 */
export type CollectionShape = 'redirect' | 'push' | 'push_then_confirm' | 'code' | 'receipt';

export interface Capabilities {
  /** The network id of the interface: `wave`, `afrimoney`, … */
  readonly network: string;
  readonly displayName: string;
  /** The mobile operator that runs the wallet: its subscribers likely have one. Null where any number may. */
  readonly operator: Operator | null;
  readonly testMode: boolean;
  /**
   * The account that holds the money, at a network or an aggregator; several networks may share one. Its name stands in the
   * URL of its callbacks, in the name of its float, and in the key of its provider transactions.
   */
  readonly railAccount: string;
  /** The merchant that this account belongs to and serves; null for the operator's, which serves every merchant. */
  readonly merchantId: string | null;
  /** How long a call may take before its outcome counts as unknown. */
  readonly callTimeoutMs: number;
}

export interface CollectionCapabilities {
  readonly shape: CollectionShape;
  /** Whether the payer's number must be known before the start. */
  readonly numberRequired: boolean;
  /** Whether an open collection can be cancelled. One that cannot is looked up instead, and ends by itself. */
  readonly canCancel: boolean;
  /** Whether the network decides how long a collection stays open, so that it has to be cancelled when the payment expires. */
  readonly decidesExpiry?: boolean;
  /** Bututs an amount must be a multiple of: 100 where the network takes whole dalasi only. */
  readonly amountStepMinor: bigint;
  /** Waits before the first, second, … look-up; the last one repeats. */
  readonly lookUpDelaysMs: readonly number[];
  /** How long after an unanswered start "no such payment" may still mean "not yet". */
  readonly notFoundIsFinalAfterMs: number;
  /** How long after a success to look whether the network has reversed it. Empty where a callback reports it. */
  readonly recheckAfterMs: readonly number[];
  /** Whether a look-up shows a reversal only with `hasSucceeded`, because the network reports it in another place. */
  readonly reversalsElsewhere?: boolean;
}

export interface PayoutCapabilities {
  /** Bututs a payout must be a multiple of: 100 where the network takes whole dalasi only. */
  readonly amountStepMinor: bigint;
  /** Waits before the first, second, … look-up; the last one repeats. */
  readonly lookUpDelaysMs: readonly number[];
  /** After this time "no such payout" means that the request never arrived; it may be sent again with its reference. */
  readonly resendAfterMs: number;
  /** After this time a person has to ask the network. */
  readonly giveUpAfterMs: number;
  /** How long after a success to look whether the network has reversed it. Empty where a callback reports it. */
  readonly recheckAfterMs: readonly number[];
  /** Whether the network's statement names what was paid by another id than its API does. */
  readonly statementHasOwnIds?: boolean;
  /**
   * What a circuit breaker covers. `network`: one breaker for all payouts of the network, and one for each merchant
   * there. `merchant_and_number`: one for each merchant and number, so that testers on simulated networks do not block
   * each other.
   */
  readonly breakerScope: 'network' | 'merchant_and_number';
  /** The most payouts of one merchant that a batch takes; absent where each is sent alone. */
  readonly batchMax?: number;
}

export interface RefundCapabilities extends Omit<PayoutCapabilities, 'amountStepMinor' | 'breakerScope' | 'batchMax'> {
  /** Whether partial refunds are possible; otherwise only the whole amount. */
  readonly partial: boolean;
  /** How long after the payment the network refunds. */
  readonly withinMs: number;
  /** Whether it refunds by reversing the collection, whose look-up then reports that reversal too. */
  readonly reversesCollection?: true;
}

export interface StartRefund {
  /** Ours, unguessable, the same on every retry. Begins with the merchant's short id. */
  reference: string;
  /** The network's own transaction that is refunded. */
  originalTransactionId: string;
  amountMinor: bigint;
  currency: string;
  description: string;
  callbackUrl: string;
}

export interface StartPayout {
  /** Ours, unguessable, the same on every retry. Begins with the merchant's short id. */
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164. */
  beneficiaryNumber: string;
  /** As the merchant wrote it: what a person recognises on the phone. */
  beneficiaryNumberAsSent: string;
  beneficiaryName: string | null;
  description: string;
  callbackUrl: string;
}

/** Payouts of one merchant that are sent together. */
export interface PayoutBatch {
  /** Ours, unguessable, the same on every retry, and no payout's. Begins with the merchant's short id. */
  reference: string;
  payouts: readonly StartPayout[];
}

export interface StartCollection {
  /** Ours, unguessable, the same on every retry of this attempt. Begins with the merchant's short id. */
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164, or null where the network does not need it. */
  payerNumber: string | null;
  /** As the payer wrote it: what a person recognises on the phone. */
  payerNumberAsSent: string | null;
  description: string;
  expiresAt: Date;
  returnUrl: string;
  callbackUrl: string;
}

/** Names a collection, a payout or a refund in later calls. */
export interface LookUp {
  reference: string;
  handles: NetworkHandles;
  /**
   * How often it has been looked up on schedule before, by whichever process: some networks limit it. Absent for a look-up out of
   * turn.
   */
  earlierLookUps?: number;
  /**
   * It has succeeded, and only a reversal is of interest, which some networks report in another place; false: it had ended without
   * money, and may not be begun again. Absent while its outcome is awaited.
   */
  hasSucceeded?: boolean;
}

/** A refund; some networks know it only by the payment. */
export interface LookUpRefund extends LookUp {
  originalTransactionId: string;
}

/** With what the start had: some providers want it again, also where the response to the start was lost. */
export interface ContinueCollection extends LookUp, Pick<StartCollection, 'amountMinor' | 'payerNumber'> {
  code: string | null;
}

/** Ids and tokens from a network that its later calls need; opaque to everything but its connector. */
export type NetworkHandles = Readonly<Record<string, string>>;

/** What the payer must do next. */
export type NextAction =
  | { type: 'open_url'; url: string }
  | { type: 'approve_on_phone' }
  | { type: 'approve_then_confirm' }
  | { type: 'enter_code'; length: number }
  /** The payer sends the money to a number, then types the id of the network's message. `amount` is in exact dalasi. */
  | { type: 'send_and_enter_id'; toNumber: string; toName: string; amount: string };

/** What is known of a collection after a call or a callback. */
export type CollectionResponse =
  | { state: 'awaiting_payer'; nextAction: NextAction; networkReference: string; handles: NetworkHandles }
  | { state: 'processing' }
  | { state: 'succeeded'; providerTransaction: ProviderTransaction }
  /** The provider transaction is the one that is reversed. */
  | ({ state: 'reversed'; providerTransaction: ProviderTransaction } & ReversalIdentity)
  | { state: 'refused'; failure: Failure }
  /** The code was wrong; the payer may try again. Null where the network does not say how often. */
  | { state: 'code_refused'; attemptsLeft: number | null }
  /** The network does not know the reference (yet). */
  | { state: 'not_found' }
  /** No response, or one that is not understood: look up. */
  | { state: 'unknown'; detail: string };

/** What is known of a payout after a call or a callback. */
export type PayoutResponse =
  | { state: 'processing'; networkReference: string; handles: NetworkHandles }
  | { state: 'succeeded'; providerTransaction: PayoutTransaction }
  /** The provider transaction is the one that is reversed. */
  | ({ state: 'reversed'; providerTransaction: PayoutTransaction } & ReversalIdentity)
  | { state: 'refused'; failure: Failure }
  /**
   * Documented to have done nothing, for a temporary reason: the same request may be sent again later. In a look-up only of a payout
   * that its batch did not pay.
   */
  | { state: 'not_accepted'; reason: UnavailableReason }
  /** The network does not know the reference (yet). */
  | { state: 'not_found' }
  /** No response, or one that is not understood: look up. */
  | { state: 'unknown'; detail: string };

/** What is known of a batch after its call. */
export type PayoutBatchResponse =
  /** The network has all of its payouts. The handles let each be looked up. */
  | { state: 'accepted'; networkReference: string; handles: NetworkHandles }
  /** Documented to have done nothing, perhaps because of one payout among them: each may be sent alone. */
  | { state: 'refused' }
  | Extract<PayoutResponse, { state: 'not_accepted' | 'unknown' }>;

/** What a network says to any call. */
export type NetworkResponse = CollectionResponse | PayoutResponse | PayoutBatchResponse;

/** Distinguishes two reversals of one transaction. */
export interface ReversalIdentity {
  /**
   * The network's own id of the reversal, the same on each delivery: the transaction id where a reversal is a transaction
   * of its own, else the id of the notification. Absent where the network gives none, as in responses to look-ups.
   */
  reversalId?: string;
}

/** Why a network temporarily accepts no payouts. */
export type UnavailableReason = 'network_unavailable' | 'float_empty';

export interface PayoutTransaction {
  /** The network's own id of the money that moved; it settles one payment only. */
  transactionId: string;
  networkReference: string;
  /** What the beneficiary received. */
  amountMinor: bigint;
  currency: string;
  /** What the network charged us on top of the amount; 0 for nothing. */
  networkFeeMinor: bigint;
}

export interface ProviderTransaction {
  /** The network's own id of the money that moved; it settles one payment only. */
  transactionId: string;
  networkReference: string;
  /** Gross: what the payer paid. */
  amountMinor: bigint;
  currency: string;
  /** What the network deducted from the amount; 0 for nothing. */
  networkFeeMinor: bigint;
  payerNumber: string | null;
}

/** Final failures; the codes of every network map to these. */
export const failureCodes = [
  'declined_by_payer',
  'insufficient_funds',
  'limit_exceeded',
  'account_not_found',
  'account_blocked',
  'code_wrong',
  'expired',
  'cancelled',
  'network_unavailable',
  'refused_by_network',
] as const;
export type FailureCode = (typeof failureCodes)[number];

export interface Failure {
  code: FailureCode;
  /** A sentence for the payer and the merchant. */
  reason: string;
}

export interface RawCallback {
  headers: IncomingHttpHeaders;
  /** The query of the URL, which is part of the `callbackUrl` that the connector gave the network. */
  query: Readonly<Record<string, string>>;
  body: Uint8Array;
  receivedAt: Date;
}

export type CallbackReading =
  | { accepted: true; notifications: ProviderNotification[] }
  | { accepted: false; reason: 'signature' | 'stale' | 'malformed' };

/**
 * What a network reports of one collection or payout, by our reference. The response is null where the callback proves nothing,
 * as one without a signature: it only makes us look up at once.
 */
export type ProviderNotification =
  | { operation: 'collection'; reference: string; response: CollectionResponse | null }
  | { operation: 'payout'; reference: string; response: PayoutResponse | null };
