import { eventBody } from '../../server/src/webhooks/envelope.ts';
import type { JsonObject } from '../api/client.ts';
import { eventPage, readResponse, type EventRow } from '../api/responses.ts';

/** An event and the body of its webhook request. */
export interface EventWithBody {
  row: EventRow;
  body: Buffer;
}

/**
 * Reads a page of GET /v1/events and rebuilds each webhook body byte for byte: the service stores a record as
 * JSON.stringify wrote it, so that parsing and writing it again changes nothing but numbers, whose source text is
 * preserved here.
 */
export function readEvents(text: string): EventWithBody[] {
  const rows = readResponse(eventPage, JSON.parse(text)).data;
  const exact = parseExactly(text) as { data: { data: JsonObject }[] };
  return rows.map((row, index) => {
    const head = { id: row.id, kind: row.event, createdAt: new Date(row.created_at), testMode: row.test_mode };
    const recordText = JSON.stringify(exact.data[index]?.data);
    const { request_id: requestId, sequence } = row;
    return { row, body: eventBody({ ...head, sequence: BigInt(sequence), requestId, recordText }) };
  });
}

// The compiler's library does not know this half of the standard yet (TC39, JSON.parse source text access).
const { rawJSON } = JSON as unknown as { rawJSON: (source: string) => unknown };

/** Preserves the source text of numbers: 10.50 stays 10.50, and a number beyond a double is not rounded. */
function parseExactly(text: string): unknown {
  const keepNumber = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
  return JSON.parse(text, keepNumber);
}
