import { eventBody } from './envelope.ts';
import type { SentEvent } from './list-events.ts';
import type { DeliveryRow, TryRow } from './queries/event-deliveries.ts';

/** The event as it was sent, with what became of it: JSON text, because its record is kept as text. */
export function eventToText({ event, deliveries }: SentEvent, testMode: boolean, tries?: readonly TryRow[]): string {
  const body = eventBody({ ...event, testMode }).toString('utf8');
  const objectId = JSON.stringify(event.objectId);
  const triesOf = tries && Map.groupBy(tries, ({ deliveryId }) => deliveryId);
  const sent = deliveries.map((delivery) => ({
    ...deliveryToWire(delivery),
    ...(triesOf && { tries: (triesOf.get(delivery.id) ?? []).map(tryToWire) }),
  }));
  return `${body.slice(0, -1)},"object_id":${objectId},"deliveries":${JSON.stringify(sent)}}`;
}

function deliveryToWire(delivery: DeliveryRow) {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    callback_url: delivery.callbackUrl,
    status: delivery.status,
    attempts: Number(delivery.attempts),
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  };
}

function tryToWire(made: TryRow) {
  return {
    attempt: Number(made.attempt),
    sent_at: made.sentAt.toISOString(),
    status: made.statusCode === null ? null : Number(made.statusCode),
    failure: made.failure,
    duration_ms: Number(made.durationMs),
    answer: made.answer,
  };
}
