import { defaultEventKinds } from '../events/kinds.ts';
import type { Clock } from '../kit/clock.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Random } from '../kit/random.ts';
import type { Sealer } from '../kit/seal.ts';
import type { Subscription } from './enabled-events.ts';

/** An address that a merchant wants events sent to, with a secret of its own. */
export interface Endpoint {
  merchantId: string;
  id: string;
  /** Null on a default endpoint that the merchant has not set yet: nothing is sent, its secret signs for callbacks. */
  url: string | null;
  description: string;
  /** Null subscribes to the default kinds, also to those that become default later. */
  kinds: Subscription | null;
  status: EndpointStatus;
  disabledReason: DisabledReason | null;
  /** One per merchant, there from the start; its secret signs what goes to a record's own callback address. */
  isDefault: boolean;
  /** Sealed, like the one below. */
  secret: Buffer;
  /** The secret before the last rotation, valid until the overlap ends. */
  previousSecret: Buffer | null;
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What is sent to an enabled endpoint is kept for a disabled one, to be replayed. */
export type EndpointStatus = 'enabled' | 'disabled';

/**
 * `manual`: the merchant switched it off. `gone`: the endpoint answered 410, which asks for no more. `failing`: nothing
 * that was sent to it for five days arrived.
 */
export type DisabledReason = 'manual' | 'gone' | 'failing';

/** What the use-cases of endpoints work with. */
export interface EndpointContext {
  clock: Clock;
  random: Random;
  newId: () => string;
  sealer: Sealer;
  /** Which URLs the merchants of an environment may give. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
}

// Every event is stored, signed and sent once per endpoint, so their number multiplies the work of each payment.
export const endpointsMax = 20;

export const descriptionLengthMax = 200;

/** Whether events go to the endpoint's own URL. */
export function isReceiving(endpoint: Endpoint): boolean {
  return endpoint.status === 'enabled' && endpoint.url !== null;
}

/** The endpoint in the form of the wire. The secret is shown once: when it was made. */
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
