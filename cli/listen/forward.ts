import type { Clock } from '../../server/src/kit/clock.ts';
import { resolveBySystem } from '../../server/src/kit/name-resolver.ts';
import { createOutboundClient } from '../../server/src/kit/outbound-http.ts';
import type { OutboundResult } from '../../server/src/kit/outbound-http.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import type { EventWithBody } from '../events/event-body.ts';

/** Sends events to the person's own receiver as the service would: the same body, headers and limits. */
export interface Forwarder {
  send(event: EventWithBody): Promise<OutboundResult>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface ForwardOptions {
  clock: Clock;
  url: string;
  secret: string;
  /** The name of the service's own signature header. */
  signatureHeader: string;
}

export function createForwarder({ clock, url, secret, signatureHeader }: ForwardOptions): Forwarder {
  // The address is the person's own, on their own machine.
  const resolveName = resolveBySystem;
  const policy = { allowPrivate: true };
  const outbound = createOutboundClient({ clock, policy, userAgent: 'Dalasi-Webhooks', resolveName });
  return {
    send: ({ row, body }) => {
      const message = { id: row.id, sentAt: clock.now(), body };
      const signatures = signatureHeaders(message, { current: secret, previous: null }, signatureHeader);
      const headers = { 'content-type': 'application/json', ...signatures };
      return outbound.post({ url, headers, body, httpsOnly: false });
    },
    close: () => outbound.close(),
  };
}
