import type { EventKind, JsonRecord } from './kinds.ts';

export interface NewEvent {
  merchantId: string;
  kind: EventKind;
  objectId: string;
  /** Counts the events of one object from 1, so that a receiver knows which record is newer. */
  sequence: bigint;
  /** The record as it is now, in the form of the API. */
  record: JsonRecord;
  callbackUrl: string | null;
}

/** What decides who receives an event. */
export interface EventToDeliver extends Pick<NewEvent, 'merchantId' | 'kind' | 'callbackUrl'> {
  id: string;
}

/** An event that this process has just written, with all that its body holds. */
export interface WrittenEvent extends EventToDeliver, Pick<NewEvent, 'sequence'> {
  createdAt: Date;
  requestId: string | null;
  /** The record as it is stored. */
  recordText: string;
}

/** An event as it is stored. */
export interface StoredEvent extends NewEvent {
  id: string;
  /** The request that caused it; null where a network, a schedule or an expiry caused it. */
  requestId: string | null;
  createdAt: Date;
}
