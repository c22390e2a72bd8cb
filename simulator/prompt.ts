import { findSimulatedNetwork, type SessionShape } from './network.ts';
import { phoneActions, type PhoneAction } from './transitions.ts';
import { sessionAt, type Session, type SessionFailureCode, type SessionStatus } from './session.ts';

/** A collection as the payer's simulated phone shows it. */
export interface Prompt {
  sessionId: string;
  /** The merchant's short id. */
  account: string;
  network: string;
  networkName: string;
  reference: string;
  shape: SessionShape;
  status: SessionStatus;
  amountMinor: bigint;
  currency: string;
  description: string;
  /** E.164 in the new form; null for a link that was opened without one. */
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  /** The one-time code "sent by SMS", while it can be entered. */
  code: string | null;
  /** Whether the phone itself asks for the code; otherwise the merchant's page does. */
  requiresCode: boolean;
  codeAttemptsLeft: number;
  /** Approved on the phone; waits for the merchant's page to confirm, or for 30 s. */
  awaitsConfirmation: boolean;
  failureCode: SessionFailureCode | null;
  transactionId: string | null;
  /** Where the payer of a link returns to. */
  returnUrl: string;
  createdAt: Date;
  expiresAt: Date;
  /** The actions that are possible now, in display order. */
  actions: PhoneAction[];
}

/** The prompt in its state at `now`. */
export function promptOf(stored: Session, now: Date): Prompt {
  const session = sessionAt(stored, now);
  const { status } = session;
  return {
    sessionId: session.id,
    account: session.account,
    network: session.network,
    networkName: findSimulatedNetwork(session.network)?.displayName ?? session.network,
    reference: session.reference,
    shape: session.shape,
    status,
    amountMinor: session.amountMinor,
    currency: session.currency,
    description: session.description,
    payerNumber: session.payerNumber,
    payerNumberAsSent: session.payerNumberAsSent,
    code: status === 'open' ? session.code : null,
    requiresCode: status === 'open' && session.code !== null && session.shape !== 'code',
    codeAttemptsLeft: Number(session.codeAttemptsLeft),
    awaitsConfirmation: status === 'open' && session.approvedAt !== null,
    failureCode: status === 'failed' ? session.failureCode : null,
    transactionId: status === 'complete' || status === 'reversed' ? session.transactionId : null,
    returnUrl: session.returnUrl,
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    actions: phoneActions(session),
  };
}
