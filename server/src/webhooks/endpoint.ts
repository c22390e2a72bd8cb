import { defaultEventKinds } from '../events/kinds.ts';
import type { Subscription } from './enabled-events.ts';

/** A merchant's address for events, with a secret of its own. */
export interface Endpoint {
  merchantId: string;
  id: string;
  /** Null on a default endpoint without a URL: nothing is sent to it, its secret signs deliveries to callback URLs. */
  url: string | null;
  description: string;
  /** Null subscribes to the default kinds, also to those that become default later. */
  kinds: Subscription | null;
  status: EndpointStatus;
  disabledReason: DisabledReason | null;
  /** One per merchant, created with it; its secret signs deliveries to callback URLs. */
  isDefault: boolean;
  /** Sealed, like the one below. */
  secret: Buffer;
  /** The secret before the last rotation, valid until the overlap ends. */
  previousSecret: Buffer | null;
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** An endpoint as deliveries are planned by it, and first attempts made. */
export interface EndpointToPlan extends Endpoint {
  testMode: boolean;
}

/** Events for a disabled endpoint are kept, to be resent. */
export type EndpointStatus = 'enabled' | 'disabled';

/**
 * `manual`: the merchant disabled it. `gone`: it returned 410, which asks for no more requests. `failing`: no delivery
 * succeeded for five days.
 */
export type DisabledReason = 'manual' | 'gone' | 'failing';

// Every event is stored, signed and sent once per endpoint: their number multiplies the work of each payment.
export const endpointsMax = 20;

export const descriptionLengthMax = 200;

/** Whether events go to the endpoint's own URL. */
export function isReceiving({ status, url }: Pick<Endpoint, 'status' | 'url'>): boolean {
  return status === 'enabled' && url !== null;
}

/** The endpoint as the API returns it. The secret is shown once: when it was created. */
export function endpointToWire(endpoint: Endpoint, testMode: boolean, secret?: string) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    enabled_events: endpoint.kinds ?? [...defaultEventKinds],
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    is_default: endpoint.isDefault,
    test_mode: testMode,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  };
}
