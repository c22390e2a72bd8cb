import { addMs } from '../../server/src/kit/clock.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { Payout } from '../payouts/payout.ts';
import type { Session } from '../session.ts';
import { failureError, sessionError, type GsmaError } from './error.ts';
import type { GsmaRequest } from './queries.ts';

/** What a request created. */
export type Subject = { operation: 'collection'; session: Session } | { operation: 'payout'; payout: Payout };

/** How a subject stands, in the words of a request state. */
export type SubjectState =
  | { status: 'pending' }
  | { status: 'completed'; transactionReference: string }
  | { status: 'failed'; error: GsmaError };

export function stateOf(subject: Subject): SubjectState {
  if (subject.operation === 'collection') {
    const { status, transactionId } = subject.session;
    if (status === 'open') return { status: 'pending' };
    const error = sessionError(subject.session);
    return error ? { status: 'failed', error } : { status: 'completed', transactionReference: transactionId };
  }
  const { status, failureCode, transactionId } = subject.payout;
  if (status === 'pending') return { status };
  return status === 'failed'
    ? { status, error: failureError(failureCode) }
    : { status: 'completed', transactionReference: transactionId };
}

/** The resource of `/requeststates`, and the response to a request that has not ended. */
export function requestState(request: GsmaRequest, subject: Subject, now: Date): Record<string, unknown> {
  const state = stateOf(subject);
  const { serverId, pollLimit } = request;
  return {
    serverCorrelationId: serverId,
    status: state.status,
    notificationMethod: pollLimit === null ? 'callback' : 'polling',
    ...(state.status === 'completed' ? { objectReference: state.transactionReference } : {}),
    ...(state.status === 'failed' ? { error: state.error.body(now) } : {}),
    ...(state.status === 'pending' ? pendingFields(subject) : {}),
    ...(pollLimit === null ? {} : { pollLimit: Number(pollLimit) }),
  };
}

function pendingFields(subject: Subject): Record<string, string> {
  return subject.operation === 'collection'
    ? {
        pendingReason: 'The debit party has been asked to approve.',
        expiryTime: subject.session.expiresAt.toISOString(),
      }
    : { pendingReason: 'The request is being processed.' };
}

/** The resource of `/transactions`. */
export function transaction(subject: Subject): Record<string, unknown> {
  return subject.operation === 'collection' ? collectionOf(subject.session) : payoutOf(subject.payout);
}

function collectionOf(session: Session): Record<string, unknown> {
  const { payerNumberAsSent } = session;
  return {
    transactionReference: session.transactionId,
    type: 'merchantpay',
    transactionStatus: collectionStatus(session),
    requestingOrganisationTransactionReference: session.reference,
    amount: formatAmount(session.amountPaidMinor, { style: 'plain' }),
    currency: session.currency,
    debitParty: payerNumberAsSent === null ? [] : [{ key: 'msisdn', value: payerNumberAsSent }],
    creditParty: [{ key: 'accountid', value: session.account }],
    descriptionText: session.description,
    creationDate: session.createdAt.toISOString(),
  };
}

function collectionStatus({ status }: Session): string {
  if (status === 'open') return 'pending';
  return status === 'reversed' ? status : 'completed';
}

function payoutOf(payout: Payout): Record<string, unknown> {
  const { refundedTransactionId } = payout;
  return {
    transactionReference: payout.transactionId,
    ...(refundedTransactionId === null
      ? { type: 'disbursement' }
      : { type: 'reversal', originalTransactionReference: refundedTransactionId }),
    transactionStatus: payout.status,
    requestingOrganisationTransactionReference: payout.reference,
    amount: formatAmount(payout.amountMinor, { style: 'plain' }),
    currency: payout.currency,
    debitParty: [{ key: 'accountid', value: payout.account }],
    creditParty: [{ key: 'msisdn', value: payout.beneficiaryNumberAsSent }],
    descriptionText: payout.description,
    creationDate: payout.createdAt.toISOString(),
  };
}

// A payout that takes longer is polled, so that clients meet both methods.
const callbackWithinMs = 10_000;
const pollLimit = 20n;

/** The server chooses how a client learns the end: by callback, or by polling up to a limit. */
export function pollLimitOf(subject: Subject): bigint | null {
  if (subject.operation === 'collection') return subject.session.callbackUrl === '' ? pollLimit : null;
  const { callbackUrl, status, plannedAt, createdAt } = subject.payout;
  const endsSoon = status !== 'pending' || (plannedAt !== null && plannedAt <= addMs(createdAt, callbackWithinMs));
  return callbackUrl !== '' && endsSoon ? null : pollLimit;
}
