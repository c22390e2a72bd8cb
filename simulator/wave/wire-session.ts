import { formatAmount } from '../../server/src/kit/money.ts';
import type { Session, SessionFailureCode, SessionStatus } from '../session.ts';

/** Wave's ids say what they name; those of the simulator do not. */
export const sessionIdPrefix = 'cos-';

/** The simulator's id of a session in Wave's; sessions of a release before this wire have no prefix. */
export function sessionIdOf(id: string): string {
  return id.startsWith(sessionIdPrefix) ? id.slice(sessionIdPrefix.length) : id;
}

/** A checkout session as Wave's API and webhooks show it. */
export interface WireSession {
  id: string;
  amount: string;
  currency: string;
  client_reference: string;
  business_name: string;
  aggregated_merchant_id: null;
  checkout_status: 'open' | 'complete' | 'expired';
  payment_status: 'processing' | 'cancelled' | 'succeeded';
  transaction_id: string | null;
  last_payment_error: { code: string; message: string } | null;
  restrict_payer_mobile: string | null;
  success_url: string;
  error_url: string;
  wave_launch_url: string;
  when_created: string;
  when_expires: string;
  when_completed: string | null;
}

/** With `status`: the current one in a response, the one at the time of the event in a webhook. */
export function wireSession(session: Session, status: SessionStatus, publicUrl: string): WireSession {
  const isPaid = status === 'complete' || status === 'reversed';
  return {
    id: `${sessionIdPrefix}${session.id}`,
    amount: wireAmount(isPaid ? session.amountPaidMinor : session.amountMinor),
    currency: session.currency,
    client_reference: session.reference,
    business_name: session.description,
    aggregated_merchant_id: null,
    ...statusesOf(session, status),
    transaction_id: isPaid ? session.transactionId : null,
    restrict_payer_mobile: session.payerNumberAsSent,
    success_url: session.returnUrl,
    error_url: session.returnUrl,
    wave_launch_url: `${publicUrl}/simulator/wave/${sessionIdPrefix}${session.id}`,
    when_created: wireTime(session.createdAt),
    when_expires: wireTime(session.expiresAt),
    when_completed: status === 'open' ? null : wireTime(session.endedAt ?? session.createdAt),
  };
}

/**
 * A payer who declines, or whose wallet refuses, has tried once; the simulated payer never tries again, so the session ends. A
 * reversed payment stays a paid one: only the statement has the reversal.
 */
function statusesOf(
  session: Session,
  status: SessionStatus,
): Pick<WireSession, 'checkout_status' | 'payment_status' | 'last_payment_error'> {
  switch (status) {
    case 'open':
      return { checkout_status: 'open', payment_status: 'processing', last_payment_error: null };
    case 'complete':
    case 'reversed':
      return { checkout_status: 'complete', payment_status: 'succeeded', last_payment_error: null };
    case 'expired':
    case 'cancelled':
      return { checkout_status: 'expired', payment_status: 'processing', last_payment_error: null };
    case 'failed':
      return {
        checkout_status: 'expired',
        payment_status: 'cancelled',
        last_payment_error: session.failureCode === null ? null : attemptErrors[session.failureCode],
      };
  }
}

/** Null where the payer only closed the app. */
const attemptErrors: Readonly<Record<SessionFailureCode, WireSession['last_payment_error']>> = {
  payer_declined: null,
  balance_too_low: { code: 'insufficient-funds', message: 'The payer has too little money.' },
  wrong_code: { code: 'payment-failure', message: 'The payer entered too many wrong codes.' },
  not_permitted: { code: 'payment-failure', message: 'The payment failed.' },
};

/** `450`, `450.50`. */
export function wireAmount(amountMinor: bigint): string {
  return formatAmount(amountMinor, { style: 'plain' }).replace(/\.00$/, '');
}

export function wireTime(time: Date): string {
  return `${time.toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}Z`;
}
