import { amountToJson } from '../../server/src/kit/money.ts';
import type { NetworkWire } from '../network-wire.ts';
import type { Session, SessionFailureCode, SessionStatus } from '../session.ts';

/** What the provider says of a collection: the response to a status query, and the body of a webhook. */
export function report(session: Session, status: SessionStatus): Record<string, unknown> {
  const hasMoved = status === 'complete' || status === 'reversed';
  return {
    transaction_reference: session.transactionId,
    merchant_reference: session.reference,
    transaction_status: detailOf(session, status),
    status: statusWords[status],
    transaction_fee: 0,
    amount_received: hasMoved ? amountToJson(session.amountPaidMinor) : 0,
    channel: 'MOBILE_MONEY',
    initiated_date: session.createdAt.toISOString(),
    current_status_date: (session.endedAt ?? session.createdAt).toISOString(),
  };
}

const statusWords: Readonly<Record<SessionStatus, string>> = {
  open: 'PENDING',
  complete: 'COMPLETED',
  failed: 'FAILED',
  expired: 'FAILED',
  cancelled: 'FAILED',
  reversed: 'REVERSED',
};

const failureReasons: Readonly<Record<SessionFailureCode, string>> = {
  payer_declined: 'DECLINED BY CUSTOMER',
  balance_too_low: 'INSUFFICIENT FUNDS',
  wrong_code: 'OTP ATTEMPTS EXCEEDED',
  not_permitted: 'NOT PERMITTED',
};

/** The reason of a collection that has failed, in the provider's words. */
export function failedReason({ failureCode }: Pick<Session, 'failureCode'>): string {
  return failureCode === null ? 'FAILED' : failureReasons[failureCode];
}

function detailOf(session: Session, status: SessionStatus): string {
  switch (status) {
    case 'open':
      return 'Pending';
    case 'complete':
      return 'Funds Received';
    case 'failed':
      return failedReason(session);
    case 'expired':
    case 'cancelled':
      return 'EXPIRED';
    case 'reversed':
      return 'Reversed';
  }
}

/** Webhooks of 54Pay: a POST of the report, without a signature. There are none of payouts, which it does not make. */
export function createPayinWire(): NetworkWire {
  return {
    name: '54pay',
    sessionCallback: ({ session, notification, isInResponse }) => {
      const { status } = notification;
      if (isInResponse && status === 'failed') return null;
      return { method: 'POST', url: session.callbackUrl, body: JSON.stringify(report(session, status)) };
    },
    payoutCallback: () => null,
    headers: () => ({ 'content-type': 'application/json' }),
  };
}
