import { assert } from '../server/src/kit/assert.ts';
import { callbackSigningSecret } from './credentials.ts';
import type { NetworkWire } from './network-wire.ts';
import { wirePayout } from './payouts/wire-payout.ts';
import { signCallback } from './sign-callback.ts';
import { wireSession } from './wire.ts';

/** The body of a callback. */
interface WireNotification {
  /** The same on every delivery of a notification. */
  id: string;
  type: string;
  created_at: string;
  data: object;
}

export interface PrivateWireOptions {
  /** The networks' signing secrets are derived from it; the connectors must have the same. */
  callbackSecret: string;
  /** The base URL of the simulated networks' pages, without a trailing slash. */
  publicUrl: () => string;
}

/** The wire that no real network speaks, of the networks that have not got one of their own yet. */
export function createPrivateWire({ callbackSecret, publicUrl }: PrivateWireOptions): NetworkWire {
  assert(callbackSecret !== '', 'callbacks of the simulated networks need a signing secret');
  return {
    name: 'private',
    sessionCallback: ({ session, notification, eventId }) => {
      const data = wireSession(session, notification.status, publicUrl());
      return callback(session.callbackUrl, eventId, notification, data);
    },
    payoutCallback: ({ payout, notification, eventId }) =>
      callback(payout.callbackUrl, eventId, notification, wirePayout(payout, notification.status)),
    headers: ({ network, body, sentAt }) => ({
      'content-type': 'application/json',
      'sim-signature': signCallback(callbackSigningSecret(callbackSecret, network), { sentAt, body }),
    }),
  };
}

function callback(url: string, id: string, { type, occursAt }: { type: string; occursAt: Date }, data: object) {
  const notification: WireNotification = { id, type, created_at: occursAt.toISOString(), data };
  return { method: 'POST', url, body: JSON.stringify(notification) } as const;
}
