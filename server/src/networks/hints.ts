import type { CallbackReading, ProviderNotification, RawCallback } from './contract.ts';

/** What an unsigned callback can be about. Refunds are payouts to their handlers. */
export interface HintSubject {
  reference: string;
  operation: ProviderNotification['operation'];
}

/**
 * The callback URL for a network that does not sign: the query, which the network repeats, says what has changed. The body
 * proves nothing, so nobody reads it.
 */
export function hintUrl(callbackUrl: string, { reference, operation }: HintSubject): string {
  const url = new URL(callbackUrl);
  url.searchParams.set('reference', reference);
  url.searchParams.set('operation', operation);
  return url.href;
}

/** Reads a callback at such a URL: a notification that only brings the look-up forward. */
export function readHint({ query }: RawCallback): CallbackReading {
  const { reference, operation } = query;
  if (reference === undefined || (operation !== 'collection' && operation !== 'payout')) {
    return { accepted: false, reason: 'malformed' };
  }
  return { accepted: true, notifications: [{ operation, reference, response: null }] };
}
