import { findSimulatedNetwork } from './network.ts';
import { phoneActions, type PhoneAction } from './transitions.ts';
import { sessionAt, type Session } from './session.ts';
import type { StartRequest } from './start-request.ts';

type ShownOfSession = Pick<Session, 'network' | 'shape' | 'status' | 'code' | 'failureCode' | 'createdAt'>;

/** A collection as the payer's simulated phone shows it, with the one-time code "sent by SMS" while it can be entered. */
export interface Prompt extends Omit<StartRequest, 'network' | 'callbackUrl'>, ShownOfSession {
  sessionId: string;
  networkName: string;
  /** Whether the phone itself asks for the code; otherwise the merchant's page does. */
  requiresCode: boolean;
  codeAttemptsLeft: number;
  /** Approved on the phone; waits for the merchant's page to confirm, or for 30 s. */
  awaitsConfirmation: boolean;
  transactionId: string | null;
  /** The actions that are possible now, in display order. */
  actions: PhoneAction[];
}

/** The prompt in its state at `now`. */
export function promptOf(stored: Session, now: Date): Prompt {
  const session = sessionAt(stored, now);
  const { status } = session;
  return {
    ...session,
    sessionId: session.id,
    networkName: findSimulatedNetwork(session.network)?.displayName ?? session.network,
    code: status === 'open' ? session.code : null,
    requiresCode: status === 'open' && session.code !== null && session.shape !== 'code',
    codeAttemptsLeft: Number(session.codeAttemptsLeft),
    awaitsConfirmation: status === 'open' && session.approvedAt !== null,
    failureCode: status === 'failed' ? session.failureCode : null,
    transactionId: status === 'complete' || status === 'reversed' ? session.transactionId : null,
    actions: phoneActions(session),
  };
}
