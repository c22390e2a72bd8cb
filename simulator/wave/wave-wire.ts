import { assert } from '../../server/src/kit/assert.ts';
import { callbackSigningSecret } from '../credentials.ts';
import type { NetworkWire, SessionReport } from '../network-wire.ts';
import type { SessionNotification } from '../notification.ts';
import { signCallback } from '../sign-callback.ts';
import { wireSession } from './wire-session.ts';

export interface WaveWireOptions {
  /** The signing secret is derived from it; the connector must have the same. */
  callbackSecret: string;
  /** The base URL of the pages behind launch links, without a trailing slash. */
  publicUrl: () => string;
}

/** Wave's webhooks. There are none about payouts. */
export function createWaveWire({ callbackSecret, publicUrl }: WaveWireOptions): NetworkWire {
  assert(callbackSecret !== '', 'webhooks need a signing secret');
  return {
    name: 'wave',
    sessionCallback: ({ session, notification, eventId }: SessionReport) => {
      const data = wireSession(session, notification.status, publicUrl());
      const event = { id: `EV_${eventId.replace('evt_', '')}`, type: eventTypes[notification.status], data };
      return { method: 'POST', url: session.callbackUrl, body: JSON.stringify(event) };
    },
    payoutCallback: () => null,
    headers: ({ network, body, sentAt }) => ({
      'content-type': 'application/json',
      'wave-signature': signCallback(callbackSigningSecret(callbackSecret, network), { sentAt, body }),
    }),
  };
}

/**
 * An event that is older than the success it follows stands for an attempt that failed before. Wave has no event of a reversal; this
 * one only lets the simulated phone be felt at once, and Dalasi takes it as it takes any event that it does not know.
 */
const eventTypes: Readonly<Record<SessionNotification['status'], string>> = {
  open: 'checkout.session.payment_failed',
  complete: 'checkout.session.completed',
  failed: 'checkout.session.payment_failed',
  reversed: 'checkout.session.reversed',
};
