import { formatAmount } from '../server/src/kit/money.ts';
import { codeLength } from './session.ts';
import type { Session, SessionFailureCode, SessionStatus } from './session.ts';

/** What the payer must do, in the simulated networks' format. */
export type WireAction =
  | { type: 'open_url'; url: string }
  | { type: 'approve_on_phone' }
  | { type: 'approve_then_confirm' }
  | { type: 'enter_code'; length: number };

/** A session in the simulated networks' responses and callbacks. */
export interface WireSession {
  id: string;
  network: string;
  reference: string;
  status: SessionStatus;
  /** The requested amount. */
  amount: string;
  currency: string;
  /** The money that moved; null before. */
  paid: { gross_amount: string; fee: string; currency: string; transaction_id: string } | null;
  payer_number: string | null;
  failure_code: SessionFailureCode | null;
  action: WireAction | null;
  code_attempts_left: number | null;
  created_at: string;
  expires_at: string;
}

/** With `status`: the current one in a response, the one at the time of the event in a callback. */
export function wireSession(session: Session, status: SessionStatus, publicUrl: string): WireSession {
  const moved = status === 'complete' || status === 'reversed';
  return {
    id: session.id,
    network: session.network,
    reference: session.reference,
    status,
    amount: formatAmount(session.amountMinor, { style: 'plain' }),
    currency: session.currency,
    paid: moved
      ? {
          gross_amount: formatAmount(session.amountPaidMinor, { style: 'plain' }),
          fee: '0.00',
          currency: session.currency,
          transaction_id: session.transactionId,
        }
      : null,
    payer_number: session.payerNumber,
    failure_code: status === 'failed' ? session.failureCode : null,
    action: status === 'open' ? wireAction(session, publicUrl) : null,
    code_attempts_left: session.shape === 'code' ? Number(session.codeAttemptsLeft) : null,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

function wireAction(session: Session, publicUrl: string): WireAction {
  switch (session.shape) {
    case 'redirect':
      return { type: 'open_url', url: `${publicUrl}/simulator/${session.network}/${session.id}` };
    case 'push':
      return { type: 'approve_on_phone' };
    case 'push_then_confirm':
      return { type: 'approve_then_confirm' };
    case 'code':
      return { type: 'enter_code', length: codeLength };
  }
}
