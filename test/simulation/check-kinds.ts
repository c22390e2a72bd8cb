import type { World } from './world.ts';

// A process plans by a copy of the endpoints that is three seconds old at most. What was written in the fifteen seconds before a change
// of any endpoint is planned once more, fifteen seconds after it (docs/adr/0023); that work may be late, and may crash.
const copyMs = 5_000;
const plannedOnceMoreMs = 180_000;

/** What an endpoint had enabled from a time on, until the next of its changes. */
interface EnabledKinds {
  endpointId: string;
  fromMs: number;
  kinds: readonly string[];
}

interface WrittenEvent {
  id: string;
  kind: string;
  merchantId: string;
  atMs: number;
}

/**
 * Each event reached every added endpoint that had its kind enabled from when it was written until it was planned for the last time, and
 * no other one. Where a clock jumped, the times of events tell nothing: the kind then has to have been enabled all the time, or never.
 */
export async function checkKinds({ room, acts, traffic, hasClockJumps }: World): Promise<string | null> {
  const [events, changes] = [await listEvents(room), await listChanges(room)];
  for (const { merchant, id, path, before } of acts.settings.endpoints) {
    const accepted = traffic.receivers.acceptedAt(path);
    const own = changes.filter(({ endpointId }) => endpointId === id);
    const enabledAt = ({ kind, atMs }: WrittenEvent, earlyMs: number): boolean[] =>
      (hasClockJumps ? own : heldBetween(own, atMs - earlyMs, atMs + plannedOnceMoreMs)).map(
        ({ kinds }) => kinds[0] === '*' || kinds.includes(kind),
      );
    for (const event of events.filter(({ merchantId }) => merchantId === merchant.merchantId)) {
      const isAccepted = accepted.has(event.id);
      if (isAccepted && !enabledAt(event, copyMs).includes(true))
        return `events: ${event.kind} ${event.id} was delivered to ${id}, which had not enabled its kind`;
      if (!isAccepted && !before.has(event.id) && !enabledAt(event, 0).includes(false))
        return `events: ${event.kind} ${event.id} was not delivered to ${id}, which was added before`;
    }
  }
  return null;
}

/** In the order of their times. Of changes at one time, any may be the last. */
function heldBetween(changes: readonly EnabledKinds[], fromMs: number, toMs: number): readonly EnabledKinds[] {
  const endMs = (change: EnabledKinds) => changes.find((later) => later.fromMs > change.fromMs)?.fromMs ?? Infinity;
  return changes.filter((change) => change.fromMs <= toMs && endMs(change) > fromMs);
}

async function listEvents({ shared }: World['room']): Promise<WrittenEvent[]> {
  const text = `SELECT id, kind, merchant_id AS "merchantId", (extract(epoch FROM created_at) * 1000)::float8 AS "atMs" FROM events
    WHERE kind <> 'webhook_endpoint.test' ORDER BY id`;
  return (await shared.database.asOwner<WrittenEvent & Record<string, unknown>>(text)).rows;
}

/** As the audit log has them. */
async function listChanges({ shared }: World['room']): Promise<EnabledKinds[]> {
  const text = `SELECT object_id AS "endpointId", (extract(epoch FROM created_at) * 1000)::float8 AS "fromMs",
      (SELECT json_agg(each->>'after') FROM json_array_elements(changes) AS each WHERE each->>'field' LIKE 'enabled_events.%') AS kinds
    FROM audit_entries WHERE action IN ('createWebhookEndpoint', 'updateWebhookEndpoint') AND result = 'done' ORDER BY created_at, id`;
  const { rows } = await shared.database.asOwner<EnabledKinds & Record<string, unknown>>(text);
  return rows.filter(({ kinds }) => kinds !== null);
}
