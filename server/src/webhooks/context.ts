import type { EventContext } from '../events/append-event.ts';
import type { Database } from '../kit/db.ts';
import type { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { ListReader } from '../api/list-reader.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { OutboundClient } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';
import type { Sealer } from '../kit/seal.ts';
import type { DeliveryPlanner } from './delivery-planner.ts';
import type { MailEndpointTrouble } from './endpoint-mails.ts';
import type { Verdict } from './retry-schedule.ts';

/** What webhook endpoints, their events and deliveries work with. */
export interface WebhookContext extends EventContext {
  db: Database;
  random: Random;
  log: Log;
  lists: ListReader;
  /** Seals the endpoints' secrets. */
  sealer: Sealer;
  outbound: OutboundClient;
  /** Which URLs the merchants of an environment may use. */
  urlPolicy: (testMode: boolean) => OutboundPolicy;
  /** The name of the service's own signature header, a server setting: `x-service-signature`. */
  signatureHeader: string;
  /** Limits the requests that resend events in bulk. */
  bulkResends: KeyedLimiter<string>;
  /** Mails people about an endpoint that fails or was disabled. */
  mailTrouble: MailEndpointTrouble;
  /** Counts attempts by outcome. */
  observeAttempt: (outcome: Verdict['status']) => void;
  planner: Pick<DeliveryPlanner, 'endpointsChanged' | 'replan' | 'sendFirstBy'>;
  /** Called after the commit with the endpoint queues in which deliveries are due. */
  scheduleDeliveries: (keys: readonly string[]) => void;
}
