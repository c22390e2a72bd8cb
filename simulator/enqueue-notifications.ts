import { assert } from '../server/src/kit/assert.ts';
import { randomBase62 } from '../server/src/kit/base62.ts';
import type { Transaction } from '../server/src/kit/db.ts';
import type { SimulatorContext } from './context.ts';
import type { NetworkWire, NetworkWires, WireCallback } from './network-wire.ts';
import { findSimulatedNetwork } from './network.ts';
import type { Notification, PayoutNotification, SessionNotification } from './notification.ts';
import type { Payout } from './payouts/payout.ts';
import { insertCallback } from './queries.ts';
import { randomIdLength } from './record-id.ts';
import type { Session } from './session.ts';

/** Writes the callbacks of a session in the transaction of the change that they report. */
export function enqueueSessionNotifications(
  tx: Transaction,
  context: SimulatorContext,
  session: Session,
  notifications: SessionNotification[],
  during: 'start' | 'change',
): void {
  const wire = wireOf(context.wires, session.network, 'collections');
  enqueue(tx, context, { subject: session, wire, notifications }, (notification, eventId) => {
    const isInResponse = during === 'start' && session.status === notification.status;
    return wire.sessionCallback({ session, notification, eventId, isInResponse });
  });
}

/** Writes the callbacks of a payout or refund in the transaction of the change that they report. */
export function enqueuePayoutNotifications(
  tx: Transaction,
  context: SimulatorContext,
  payout: Payout,
  notifications: PayoutNotification[],
): void {
  const wire = wireOf(context.wires, payout.network, 'payouts');
  enqueue(tx, context, { subject: payout, wire, notifications }, (notification, eventId) => {
    const isInResponse = payout.status === notification.status;
    return wire.payoutCallback({ payout, notification, eventId, isInResponse });
  });
}

/** The wire on which a network sends its callbacks. */
function wireOf(wires: NetworkWires, networkId: string, operation: 'collections' | 'payouts'): NetworkWire {
  const network = findSimulatedNetwork(networkId);
  assert(network, 'a record has a network that is simulated');
  return wires[network.wires[operation]];
}

/** What the notifications report, and the wire that renders them. */
interface Report<Status> {
  subject: { account: string; id: string; network: string };
  wire: NetworkWire;
  notifications: Notification<Status>[];
}

/** Callbacks of the same status share one event id, like repeated deliveries of a real network. */
function enqueue<Status>(
  tx: Transaction,
  context: SimulatorContext,
  { subject, wire, notifications }: Report<Status>,
  render: (notification: Notification<Status>, eventId: string) => WireCallback | null,
): void {
  const { account, id: subjectId, network } = subject;
  const now = context.clock.now();
  const eventIds = new Map<Status, string>();
  for (const notification of notifications) {
    const { status, occursAt, dueAt } = notification;
    const eventId = eventIds.get(status) ?? `evt_${randomBase62(context.random, randomIdLength)}`;
    eventIds.set(status, eventId);
    const callback = render(notification, eventId);
    if (callback === null) continue;
    const id = randomBase62(context.random, randomIdLength);
    tx.send(insertCallback({ ...callback, account, subjectId, id, network, wire: wire.name, occursAt, dueAt }));
    if (dueAt <= now) tx.afterCommit(context.notifySender);
  }
}
