import { ApiError, type Api } from '../api/client.ts';
import { eventPage, eventRow, readResponse, type EventRow } from '../api/responses.ts';

/** The largest page of the API. */
export const pageRowsMax = 100;

/** The newest event of this kind about an object; undefined while there is none. */
export async function findEventOf(
  api: Api,
  { kind, objectId }: { kind: string; objectId: string },
): Promise<EventRow | undefined> {
  const { body } = await api.get('/v1/events', { object_id: objectId, event: kind, limit: 1 });
  return readResponse(eventPage, body).data[0];
}

const eventsOfRecordMax = 10;

/** The newest events about an object. */
export async function findEventsOf(api: Api, objectId: string): Promise<EventRow[]> {
  const { body } = await api.get('/v1/events', { object_id: objectId, limit: eventsOfRecordMax });
  return readResponse(eventPage, body).data;
}

/** One event with its attempts; undefined if there is none with this id. */
export async function findEvent(api: Api, id: string): Promise<EventRow | undefined> {
  try {
    const { body } = await api.get(`/v1/events/${encodeURIComponent(id)}`);
    return readResponse(eventRow, body);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}
