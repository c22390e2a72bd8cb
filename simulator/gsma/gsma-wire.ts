import type { NetworkWire, WireCallback } from '../network-wire.ts';
import { pollLimitOf, stateOf, transaction, type Subject } from './resources.ts';

/**
 * Callbacks of the GSMA API: a PUT with the transaction, or with the error object of a request that failed. They have no
 * signature. What ended in the response to its request, and what is polled, is not reported; a change after the end is.
 */
export function createGsmaWire(): NetworkWire {
  return {
    name: 'gsma',
    sessionCallback: ({ session, notification, isInResponse }) => {
      const { status, occursAt } = notification;
      if ((isInResponse && status !== 'open') || pollLimitOf({ operation: 'collection', session }) !== null)
        return null;
      return callback(session.callbackUrl, { operation: 'collection', session: { ...session, status } }, occursAt);
    },
    payoutCallback: ({ payout, notification, isInResponse }) => {
      const { status, occursAt } = notification;
      if ((isInResponse && status !== 'pending') || pollLimitOf({ operation: 'payout', payout }) !== null) return null;
      return callback(payout.callbackUrl, { operation: 'payout', payout: { ...payout, status } }, occursAt);
    },
    headers: ({ sentAt }) => ({ 'content-type': 'application/json', 'x-date': sentAt.toISOString() }),
  };
}

function callback(url: string, subject: Subject, at: Date): WireCallback {
  const state = stateOf(subject);
  const body = state.status === 'failed' ? state.error.body(at) : transaction(subject);
  return { method: 'PUT', url, body: JSON.stringify(body) };
}
