import type { JsonObject } from '../../kit/strict-json.ts';
import type { LookUpRefund, PayoutResponse, PayoutTransaction, RefundOperations, StartRefund } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { isObject, readAmount, refused, unknown } from '../response-values.ts';
import { waveError, waveErrorCode } from './errors.ts';
import { findReversal, refundIdOf } from './statement.ts';
import { outgoingRefusal } from './translate-payout.ts';
import { foundSessions, isSuccess } from './translate.ts';
import type { WaveRail } from './wave-rail.ts';

/** Refunds of a whole session. Wave repeats none of them, so a repetition shows how the first request ended. */
export function refundOperations(rail: WaveRail): RefundOperations {
  const { payouts, refunds } = rail.options;
  return {
    capabilities: { ...payouts, ...refunds, partial: false, statementHasOwnIds: true },
    start: (request) => refundWhole(rail, request),
    lookUp: (request) => {
      if (request.hasSucceeded === true) return lookForReturn(rail, request);
      // One that had ended without money is not begun again: a look at it must move none.
      return request.hasSucceeded === false ? Promise.resolve({ state: 'not_found' }) : refundAgain(rail, request);
    },
  };
}

async function refundWhole(rail: WaveRail, request: StartRefund): Promise<PayoutResponse> {
  const found = await findSession(rail, request);
  if (!('session' in found)) return found;
  const { amountMinor, currency } = found.session;
  if (amountMinor !== request.amountMinor || currency !== request.currency) {
    return refused('refused_by_network', 'The network refunds the whole amount only.');
  }
  return postRefund(rail, request, found.session);
}

/** Wave has no record of a refund that could be looked up. That it does not accept a repetition says nothing of the first request. */
async function refundAgain(rail: WaveRail, request: LookUpRefund): Promise<PayoutResponse> {
  const found = await findSession(rail, request);
  if (!('session' in found)) return unknown('the payment was not found');
  const response = await postRefund(rail, request, found.session);
  return response.state === 'not_accepted' ? unknown('the repetition was not accepted') : response;
}

async function postRefund(
  { client }: WaveRail,
  { reference }: { reference: string },
  session: PaidSession,
): Promise<PayoutResponse> {
  const path = `/v1/checkout/sessions/${encodeURIComponent(session.id)}/refund`;
  const reply = await client.post({ pool: 'payouts', path, reference });
  if (reply.kind === 'not_sent') return { state: 'not_accepted', reason: 'network_unavailable' };
  if (reply.kind === 'lost') return unknown(reply.detail);
  if (isDone(reply)) return { state: 'succeeded', providerTransaction: refundOf(session) };
  return refusalOf(reply) ?? unknown(`HTTP ${reply.status}`);
}

/** Documented as 200 without a body; a page of a proxy has one. */
function isDone(reply: Extract<Reply, { kind: 'response' }>): boolean {
  return isSuccess(reply) && (reply.isEmpty === true || isObject(reply.body));
}

function refusalOf(reply: Extract<Reply, { kind: 'response' }>): PayoutResponse | null {
  const isFinal = reply.status >= 400 && reply.status < 500;
  if (isFinal && waveErrorCode(reply.body) === 'checkout-refund-failed') {
    return refused('refused_by_network', 'The network could not refund the payment.');
  }
  return outgoingRefusal(reply);
}

interface PaidSession {
  id: string;
  amountMinor: bigint;
  currency: string;
}

async function findSession(
  { client }: WaveRail,
  { reference, originalTransactionId }: { reference: string; originalTransactionId: string },
): Promise<{ session: PaidSession } | PayoutResponse> {
  const path = `/v1/checkout/sessions?transaction_id=${encodeURIComponent(originalTransactionId)}`;
  const reply = await client.get(path, reference);
  // Nothing but a question was sent so far.
  if (reply.kind !== 'response') return { state: 'not_accepted', reason: 'network_unavailable' };
  if (!isSuccess(reply)) {
    return waveError(reply) === 'not_found'
      ? refused('refused_by_network', 'The network finds no payment to refund.')
      : { state: 'not_accepted', reason: 'network_unavailable' };
  }
  const session = paidSession(foundSessions(reply)?.[0] ?? reply.body, originalTransactionId);
  return session ? { session } : unknown('the response is not the session of the payment');
}

function paidSession(session: unknown, originalTransactionId: string): PaidSession | undefined {
  if (!isObject(session)) return undefined;
  const { id, transaction_id: transactionId, currency }: JsonObject = session;
  const amountMinor = readAmount(session['amount']);
  const isPaid = transactionId === originalTransactionId && session['payment_status'] === 'succeeded';
  if (!isPaid || typeof id !== 'string' || typeof currency !== 'string' || amountMinor === undefined) return undefined;
  return { id, amountMinor, currency };
}

/** A session is refunded once. */
function refundOf({ id, amountMinor, currency }: PaidSession): PayoutTransaction {
  return {
    transactionId: refundIdOf(id),
    networkReference: id,
    ...{ amountMinor, currency, networkFeeMinor: 0n },
  };
}

/** Whether the refunded money came back, as the day's transactions tell. */
async function lookForReturn(rail: WaveRail, request: LookUpRefund): Promise<PayoutResponse> {
  const found = await findSession(rail, request);
  if (!('session' in found)) return unknown('the payment was not found');
  const { session } = found;
  const sought = { reference: request.reference, sessionId: session.id, type: 'api_checkout_refund' } as const;
  const reversal = await findReversal(rail.client, { ...sought, now: rail.clock.now() });
  if (reversal === undefined) return unknown('the day’s transactions are not as documented');
  const providerTransaction = refundOf(session);
  return reversal === null
    ? { state: 'succeeded', providerTransaction }
    : { state: 'reversed', providerTransaction, reversalId: reversal.transactionId };
}
