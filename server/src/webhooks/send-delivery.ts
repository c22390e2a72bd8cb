import type { Clock } from '../kit/clock.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { OutboundClient, OutboundResult } from '../kit/outbound-http.ts';
import type { DeliveryTarget, DueDelivery } from './delivery.ts';
import type { SecretsAt } from './endpoint-secret.ts';
import { eventBody } from './envelope.ts';
import { signatureHeaders } from './signature.ts';

export interface SendContext {
  clock: Clock;
  outbound: OutboundClient;
  urlPolicy: (testMode: boolean) => OutboundPolicy;
  /** The name of the service's own signature header, a server setting: `x-service-signature`. */
  signatureHeader: string;
}

/** A claimed delivery and where it goes. */
export interface Claimed {
  target: DeliveryTarget;
  delivery: DueDelivery;
  url: string;
  secretsAt: SecretsAt;
}

export interface Attempt {
  sentAt: Date;
  endedAt: Date;
  result: OutboundResult;
}

/** An attempt that was made. */
export interface Outcome {
  merchantId: string;
  claimed: Claimed;
  attempt: Attempt;
}

/** Makes one attempt. Rejects only for what is wrong on our side, before anything has gone out. */
export async function sendDelivery(
  context: SendContext,
  { target, delivery, url, secretsAt }: Claimed,
): Promise<Attempt> {
  const sentAt = context.clock.now();
  const body = eventBody({ ...delivery, id: delivery.eventId, testMode: target.testMode });
  const message = { id: delivery.eventId, sentAt, body };
  const signatures = signatureHeaders(message, secretsAt(sentAt), context.signatureHeader);
  const headers = { 'content-type': 'application/json', ...signatures };
  const { httpsOnly } = context.urlPolicy(target.testMode);
  const result = await context.outbound.post({ url, headers, body, httpsOnly });
  return { sentAt, endedAt: context.clock.now(), result };
}
