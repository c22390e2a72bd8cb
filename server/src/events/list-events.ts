import type { EventKind, JsonRecord } from './kinds.ts';

export { listEventsOfObjects } from './queries.ts';

/** An event as it was written. */
export interface StoredEvent {
  merchantId: string;
  id: string;
  kind: EventKind;
  objectId: string;
  sequence: bigint;
  record: JsonRecord;
  callbackUrl: string | null;
  /** The request that caused it; null where a network, a schedule or the time did. */
  requestId: string | null;
  createdAt: Date;
}
