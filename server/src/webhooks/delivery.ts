import type { EventKind } from '../events/kinds.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * `pending`: due at `nextAttemptAt`. `delivered`: the receiver returned 2xx. `failed`: the last attempt failed. `kept`: held
 * because the endpoint was disabled, to be resent.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'kept';

/** One event on its way to one address. */
export interface Delivery {
  merchantId: string;
  id: string;
  eventId: string;
  /** The endpoint whose secret signs. */
  endpointId: string;
  /** Null for a delivery to the endpoint's own URL. */
  callbackUrl: string | null;
  status: DeliveryStatus;
  /** Null unless pending. */
  nextAttemptAt: Date | null;
  createdAt: Date;
}

/** How long a claim lasts: the time limit of a request, and as much again for what precedes and follows it. */
export const deliveryLeaseMs = 30_000;

/** A claimed delivery with its event. */
export interface DueDelivery {
  id: string;
  /** Counts the claims, this one included; guards the outcome against a claim that came later. */
  attempt: bigint;
  /** Its position in the retry schedule, from 1: a resend restarts the schedule. */
  tryNumber: bigint;
  callbackUrl: string | null;
  eventId: string;
  kind: EventKind;
  createdAt: Date;
  sequence: bigint;
  requestId: string | null;
  recordText: string;
}

/** The endpoint of an endpoint queue, with what signs its deliveries. */
export interface DeliveryTarget extends Pick<
  Endpoint,
  'merchantId' | 'id' | 'url' | 'status' | 'secret' | 'previousSecret' | 'previousSecretExpiresAt' | 'updatedAt'
> {
  deleted: boolean;
  testMode: boolean;
}

/** The deliveries that share one adaptive concurrency: to one endpoint's URL, or to all callback URLs of a merchant. */
export interface EndpointQueue {
  merchantId: string;
  /** Null for the callback URLs. */
  endpointId: string | null;
}

/** The endpoint queue of a delivery as text, for the worker's keys and its topics. */
export function endpointQueueKey({
  merchantId,
  endpointId,
  callbackUrl = null,
}: EndpointQueue & Partial<Pick<Delivery, 'callbackUrl'>>): string {
  return `${merchantId}/${callbackUrl === null && endpointId !== null ? endpointId : callbackQueue}`;
}

/** Null for a key of another version of the service. */
export function parseEndpointQueueKey(key: string): EndpointQueue | null {
  const [merchantId, name, ...rest] = key.split('/');
  if (merchantId === undefined || name === undefined || rest.length > 0) return null;
  return { merchantId, endpointId: name === callbackQueue ? null : name };
}

const callbackQueue = 'callbacks';
