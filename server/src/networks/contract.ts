import type { IncomingHttpHeaders } from 'node:http';

/**
 * What every network connector offers, real or simulated. A connector has three parts: `translate.ts` (pure: answers
 * and codes into the words below), `client.ts` (transport) and `callback.ts` (pure: a raw callback into verified news).
 *
 * Three rules stand above all: an answer that is missing or not understood is `unknown`, never a failure; a code is
 * `refused` only when the network documents it as final; no connector call happens inside a transaction.
 */
export interface Connector {
  readonly capabilities: Capabilities;
  startCollection(request: StartCollection): Promise<CollectionResponse>;
  /** The payer typed a code, or says that the approval is done. The code is held in memory only and never logged. */
  continueCollection(request: ContinueCollection): Promise<CollectionResponse>;
  /** "Already paid" comes back as `succeeded`, not as an error. */
  cancelCollection(request: LookUpCollection): Promise<CollectionResponse>;
  lookUpCollection(request: LookUpCollection): Promise<CollectionResponse>;
  /** Pure: verifies the signature over the raw bytes and reads the news, or says why not. Never throws. */
  readCallback(callback: RawCallback): CallbackReading;
  /** Null where the network cannot pay out. */
  readonly payouts: PayoutOperations | null;
  /** Null where the network cannot give back what it collected. */
  readonly refunds: RefundOperations | null;
}

/** How a network gives back what it collected. It answers in the words of a payout: money leaves us either way. */
export interface RefundOperations {
  readonly capabilities: RefundCapabilities;
  /** The same reference gives back once: asking again with it answers the first refund. */
  start(request: StartRefund): Promise<PayoutResponse>;
  lookUp(request: LookUpPayout): Promise<PayoutResponse>;
}

/** How a network pays out. Money that has left does not come back by asking, so nothing here is ever guessed. */
export interface PayoutOperations {
  readonly capabilities: PayoutCapabilities;
  /** Sends money. The same reference pays once: asking again with it answers the first payout. */
  start(request: StartPayout): Promise<PayoutResponse>;
  lookUp(request: LookUpPayout): Promise<PayoutResponse>;
}

/** A link, a prompt, a prompt and then "done", a code: the shapes A to D of docs/networks.md, "How a payer approves". */
export type CollectionShape = 'redirect' | 'push' | 'push_then_confirm' | 'code';

export interface Capabilities {
  /** The network id of the interface: `wave`, `afrimoney`, … */
  readonly network: string;
  readonly displayName: string;
  readonly testMode: boolean;
  /** What holds our money there; several networks may share one. Leads the keys of receipts and the float account. */
  readonly railAccount: string;
  readonly shape: CollectionShape;
  /** Whether the payer's number must be known before the start. */
  readonly numberRequired: boolean;
  /** Bututs an amount must be a multiple of: 100 where the network takes whole dalasi only. */
  readonly amountStepMinor: bigint;
  /** How long a call may take before its outcome counts as unknown. */
  readonly callTimeoutMs: number;
  /** Waits before the first, second, … look-up; the last one repeats. */
  readonly lookUpDelaysMs: readonly number[];
  /** How long after an unanswered start "no such payment" may still mean "not yet". */
  readonly notFoundIsFinalAfterMs: number;
}

export interface PayoutCapabilities {
  /** Bututs a payout must be a multiple of: 100 where the network takes whole dalasi only. */
  readonly amountStepMinor: bigint;
  /** Waits before the first, second, … look-up; the last one repeats. */
  readonly lookUpDelaysMs: readonly number[];
  /** From when on "no such payout" means that the order never arrived, and may be sent again with its reference. */
  readonly resendAfterMs: number;
  /** From when on a person has to ask the network. */
  readonly giveUpAfterMs: number;
  /**
   * What circuit breakers hold back: all payouts of the network, and those of one merchant there; or (at the simulated
   * ones, so that one tester's dead network is not another's) those of one merchant to one number.
   */
  readonly breakerScope: 'network' | 'merchant_and_number';
}

export interface RefundCapabilities extends Omit<PayoutCapabilities, 'amountStepMinor' | 'breakerScope'> {
  /** Whether it gives back a part; else the whole amount or nothing. */
  readonly partial: boolean;
  /** How long after the payment it still does. */
  readonly withinMs: number;
}

export interface StartRefund {
  /** Ours, unguessable, the same on every repetition. Leads with the merchant's short id. */
  reference: string;
  /** The network's own transaction that is given back. */
  originalTransactionId: string;
  amountMinor: bigint;
  currency: string;
  description: string;
  callbackUrl: string;
}

export interface StartPayout {
  /** Ours, unguessable, the same on every repetition. Leads with the merchant's short id. */
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

export interface LookUpPayout {
  reference: string;
  handles: NetworkHandles;
}

export interface StartCollection {
  /** Ours, unguessable, the same on every repetition of this attempt. Leads with the merchant's short id. */
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

export interface LookUpCollection {
  reference: string;
  handles: NetworkHandles;
}

export interface ContinueCollection extends LookUpCollection {
  code: string | null;
}

/** What a network gave us that its later calls need again, opaque to everyone but its connector. */
export type NetworkHandles = Readonly<Record<string, string>>;

/** What the payer must do now. */
export type NextAction =
  | { type: 'open_url'; url: string }
  | { type: 'approve_on_phone' }
  | { type: 'approve_then_confirm' }
  | { type: 'enter_code'; length: number };

/** What is known of a collection after a call or a callback. */
export type CollectionResponse =
  | { state: 'awaiting_payer'; nextAction: NextAction; networkReference: string; handles: NetworkHandles }
  | { state: 'processing' }
  | { state: 'succeeded'; providerTransaction: ProviderTransaction }
  /** The receipt is the one of the money that is taken back, with its transaction id. */
  | ({ state: 'reversed'; providerTransaction: ProviderTransaction } & ReversalIdentity)
  | { state: 'refused'; failure: Failure }
  /** The code was wrong and may be typed again. */
  | { state: 'code_refused'; attemptsLeft: number }
  /** The network does not know the reference (yet). */
  | { state: 'not_found' }
  /** No answer, or none that is understood: look up. */
  | { state: 'unknown'; detail: string };

/** What is known of a payout after a call or a callback. */
export type PayoutResponse =
  | { state: 'processing'; networkReference: string; handles: NetworkHandles }
  | { state: 'succeeded'; providerTransaction: PayoutTransaction }
  /** The receipt is the one of the money that came back, with its transaction id. */
  | ({ state: 'reversed'; providerTransaction: PayoutTransaction } & ReversalIdentity)
  | { state: 'refused'; failure: Failure }
  /** Documented to have done nothing, for a reason that passes: the same order may be sent again later. */
  | { state: 'not_accepted'; reason: UnavailableReason }
  /** The network does not know the reference (yet). */
  | { state: 'not_found' }
  /** No answer, or none that is understood: look up. */
  | { state: 'unknown'; detail: string };

/** What tells two reversals of one transaction apart. */
export interface ReversalIdentity {
  /**
   * The network's own id of the reversal, the same on each repetition: its transaction where the network makes one of it,
   * else the id of the notification. Left out where the network gives none, as in answers to look-ups.
   */
  reversalId?: string;
}

/** Why a network takes no payouts for a while. */
export type UnavailableReason = 'network_unavailable' | 'float_empty';

export interface PayoutTransaction {
  /** The network's own id of the money that moved; settles one thing only. */
  transactionId: string;
  networkReference: string;
  /** What the beneficiary got. */
  amountMinor: bigint;
  currency: string;
  /** What the network took from us on top, 0 where it takes nothing. */
  networkFeeMinor: bigint;
}

export interface ProviderTransaction {
  /** The network's own id of the money that moved; settles one thing only. */
  transactionId: string;
  networkReference: string;
  /** Gross, as the payer paid it. */
  amountMinor: bigint;
  currency: string;
  /** The network's cut, 0 where it takes none from the amount. */
  networkFeeMinor: bigint;
  payerNumber: string | null;
}

/** The final refusals; every network's codes map into these. */
export type FailureCode =
  | 'declined_by_payer'
  | 'insufficient_funds'
  | 'limit_exceeded'
  | 'account_not_found'
  | 'account_blocked'
  | 'code_wrong'
  | 'expired'
  | 'cancelled'
  | 'network_unavailable'
  | 'refused_by_network';

export interface Failure {
  code: FailureCode;
  /** A sentence for the payer and the merchant. */
  reason: string;
}

export interface RawCallback {
  headers: IncomingHttpHeaders;
  body: Uint8Array;
  receivedAt: Date;
}

export type CallbackReading =
  | { accepted: true; notifications: ProviderNotification[] }
  | { accepted: false; reason: 'signature' | 'stale' | 'malformed' };

/** News of one of our orders, found by our own reference. */
export type ProviderNotification =
  | { operation: 'collection'; reference: string; response: CollectionResponse }
  | { operation: 'payout'; reference: string; response: PayoutResponse };
