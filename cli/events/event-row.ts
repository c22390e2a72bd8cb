import type { Api, JsonObject } from '../api/client.ts';
import { ApiRefused } from '../api/client.ts';

/** A page of the API has at most this many rows. */
export const pageRowsMax = 100;

/** A delivery as GET /v1/events shows it; `tries` only where one event is asked for. */
export interface DeliveryRow {
  id: string;
  endpoint_id: string;
  callback_url: string | null;
  status: 'delivered' | 'pending' | 'failed' | 'kept';
  attempts: number;
  next_attempt_at: string | null;
  delivered_at: string | null;
  tries?: TryRow[];
}

export interface TryRow {
  attempt: number;
  sent_at: string;
  status: number | null;
  failure: string | null;
  duration_ms: number;
  answer: string;
}

/** An event as GET /v1/events shows it. */
export interface EventRow {
  id: string;
  event: string;
  created_at: string;
  test_mode: boolean;
  sequence: number;
  object_id: string;
  data: JsonObject;
  deliveries: DeliveryRow[];
}

/** The newest event of this kind that is told of an object, or undefined while there is none. */
export async function findEventOf(
  api: Api,
  { kind, objectId }: { kind: string; objectId: string },
): Promise<EventRow | undefined> {
  const { body } = await api.get('/v1/events', { object_id: objectId, event: kind, limit: 1 });
  return (body['data'] as EventRow[])[0];
}

/** One event with its tries, or undefined where there is none with this id. */
export async function findEvent(api: Api, id: string): Promise<EventRow | undefined> {
  try {
    const { body } = await api.get(`/v1/events/${encodeURIComponent(id)}`);
    return body as unknown as EventRow;
  } catch (error) {
    if (error instanceof ApiRefused && error.code === 'not_found') return undefined;
    throw error;
  }
}
