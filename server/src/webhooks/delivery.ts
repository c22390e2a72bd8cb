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

export interface EventToDispatch {
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

/** An endpoint with something due, and what is needed to send it. */
export interface DeliveryTarget extends Pick<
  Endpoint,
  'merchantId' | 'id' | 'url' | 'status' | 'secret' | 'previousSecret' | 'previousSecretExpiresAt'
> {
  deleted: boolean;
  testMode: boolean;
  ownDue: boolean;
  callbackDue: boolean;
}

/** What an endpoint's own URL is sent stands in the endpoint's lane, what goes to callback addresses in the merchant's. */
export function laneKeyOf(delivery: Pick<Delivery, 'merchantId' | 'endpointId' | 'callbackUrl'>): string {
  return delivery.callbackUrl === null ? delivery.endpointId : callbackLaneKey(delivery.merchantId);
}

export function callbackLaneKey(merchantId: string): string {
  return `${merchantId} callbacks`;
}
