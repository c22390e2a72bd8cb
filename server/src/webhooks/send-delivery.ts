import type { OutboundResult } from '../kit/outbound-http.ts';
import type { WebhookContext } from './context.ts';
import type { DeliveryTarget, DueDelivery } from './delivery.ts';
import type { SecretsAt } from './endpoint-secret.ts';
import { eventBody } from './envelope.ts';
import { signatureHeaders } from './signature.ts';

/** A claimed delivery and where it goes. */
export interface ClaimedDelivery {
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
  claimed: ClaimedDelivery;
  attempt: Attempt;
}

/** Makes one attempt. Rejects only for errors on our side, before anything was sent. */
export async function sendDelivery(
  context: Pick<WebhookContext, 'clock' | 'outbound' | 'urlPolicy' | 'signatureHeader'>,
  { target, delivery, url, secretsAt }: ClaimedDelivery,
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
