/** The fields of a stored event that its body holds. */
export interface EnvelopedEvent {
  id: string;
  kind: string;
  createdAt: Date;
  testMode: boolean;
  sequence: bigint;
  /** The `x-request-id` of the request that caused it; null where a network, a schedule or an expiry caused it. */
  requestId: string | null;
  /** The record as it was stored: JSON text that is never parsed and serialized again, so that no digit can change. */
  recordText: string;
}

/**
 * The body of an event: the same bytes on every attempt and for every receiver. `data` and `payload` are the same
 * record, because receivers of both kinds exist (docs/events.md, "What an event looks like").
 */
export function eventBody(event: EnvelopedEvent): Buffer {
  const head = [
    `"id":${JSON.stringify(event.id)}`,
    `"event":${JSON.stringify(event.kind)}`,
    `"created_at":${JSON.stringify(event.createdAt.toISOString())}`,
    `"test_mode":${event.testMode}`,
    `"sequence":${event.sequence}`,
    `"request_id":${JSON.stringify(event.requestId)}`,
  ];
  return Buffer.from(`{${head.join(',')},"data":${event.recordText},"payload":${event.recordText}}`);
}
