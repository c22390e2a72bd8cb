import type { WireName } from './network.ts';
import type { Payout } from './payouts/payout.ts';
import type { PayoutNotification, SessionNotification } from './notification.ts';
import type { Session } from './session.ts';

/** How a simulated network speaks: its callbacks. Its routes are registered by the wire's own folder. */
export interface NetworkWire {
  /** Stored with each callback, so that any process can send it. */
  readonly name: WireName;
  /** The callback of a session's notification; null where this wire reports nothing of the kind. */
  sessionCallback(report: SessionReport): WireCallback | null;
  payoutCallback(report: PayoutReport): WireCallback | null;
  /** Headers of one delivery; signed anew each time. */
  headers(callback: { network: string; body: string; sentAt: Date }): Readonly<Record<string, string>>;
}

export interface SessionReport {
  session: Session;
  notification: SessionNotification;
  /** The same on every delivery of a notification. */
  eventId: string;
  /** Whether the response to the request says it already. */
  isInResponse: boolean;
}

export interface PayoutReport {
  payout: Payout;
  notification: PayoutNotification;
  /** The same on every delivery of a notification. */
  eventId: string;
  /** Whether the response to the request says it already. */
  isInResponse: boolean;
}

export interface WireCallback {
  method: 'POST' | 'PUT';
  url: string;
  body: string;
}

/** The wires by name: `simulatedNetworks` says which one a network speaks. */
export type NetworkWires = Readonly<Record<WireName, NetworkWire>>;
