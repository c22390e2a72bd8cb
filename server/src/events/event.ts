import type { EventKind, JsonRecord } from './kinds.ts';

export interface NewEvent {
  merchantId: string;
  kind: EventKind;
  objectId: string;
  /** Counts up per object from 1, so that a receiver knows which record is newer. */
  sequence: bigint;
  /** The record as it is now, in the form of the wire. */
  record: JsonRecord;
  callbackUrl: string | null;
}

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
