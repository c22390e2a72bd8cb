import type { EventKind } from '../events/kinds.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * `pending`: due at `nextAttemptAt`. `delivered`: answered 2xx. `failed`: given up. `kept`: made or left over while the
 * endpoint was off, to be replayed.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'kept';

/** One event on its way to one address. */
export interface Delivery {
  merchantId: string;
  id: string;
  eventId: string;
  /** Whose secret signs. */
  endpointId: string;
  /** Null where it goes to the endpoint's own URL. */
  callbackUrl: string | null;
  status: DeliveryStatus;
  /** Null once there is nothing left to do. */
  nextAttemptAt: Date | null;
  createdAt: Date;
}

export interface EventToFanOut {
  id: string;
  kind: EventKind;
  callbackUrl: string | null;
}

/** A claimed delivery with its event. */
export interface DueDelivery {
  id: string;
  /** Counts the claims, this one included; guards the outcome against a claim that came later. */
  attempt: bigint;
  /** Its place in the retry schedule, from 1: a resend begins the schedule again. */
  tryNumber: bigint;
  callbackUrl: string | null;
  eventId: string;
  kind: EventKind;
  createdAt: Date;
  sequence: bigint;
  requestId: string | null;
  recordText: string;
}

/** Where the deliveries of an endpoint queue go, and what is needed to sign them. */
export interface DeliveryTarget extends Pick<
  Endpoint,
  'merchantId' | 'id' | 'url' | 'status' | 'secret' | 'previousSecret' | 'previousSecretExpiresAt'
> {
  deleted: boolean;
  testMode: boolean;
}

/** What is sent with one adaptive concurrency: what goes to one endpoint's URL, or to all callback URLs of a merchant. */
export interface EndpointQueue {
  merchantId: string;
  /** Null for the callback URLs. */
  endpointId: string | null;
}

/** The endpoint queue of a delivery as one word, for the worker's keys and its topics. */
export function endpointQueueKey({
  merchantId,
  endpointId,
  callbackUrl = null,
}: EndpointQueue & Partial<Pick<Delivery, 'callbackUrl'>>): string {
  return `${merchantId}/${callbackUrl === null && endpointId !== null ? endpointId : callbackQueue}`;
}

/** Null for what another version of the service announces. */
export function readEndpointQueueKey(key: string): EndpointQueue | null {
  const [merchantId, name, ...rest] = key.split('/');
  if (merchantId === undefined || name === undefined || rest.length > 0) return null;
  return { merchantId, endpointId: name === callbackQueue ? null : name };
}

const callbackQueue = 'callbacks';
