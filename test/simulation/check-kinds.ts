import type { World } from './world.ts';

// A process plans by a copy of the endpoints that is three seconds old at most. What was written in the fifteen seconds before a change
// of any endpoint is planned once more, fifteen seconds after it (docs/adr/0023); that work may be late, and may crash.
const copyMs = 5_000;
const plannedOnceMoreMs = 180_000;

/** What an endpoint had enabled from a commit on, until that of the next of its changes. */
interface EnabledKinds {
  endpointId: string;
  fromMs: number;
  kinds: readonly string[];
}

interface WrittenEvent {
  id: string;
  kind: string;
  merchantId: string;
}

/**
 * By the times at which events and changes were committed, whatever the clocks of their machines said. Each event reached every added
 * endpoint of which each copy that its process may have had had enabled its kind, and none that no copy and no plan of later had. Where
 * no clock jumped, what the copy may have missed is planned once more, within minutes; where one did, that is late by its error.
 */
export async function checkKinds({ room, acts, traffic, hasClockJumps }: World): Promise<string | null> {
  const [events, changes] = [await listEvents(room), await listChanges(room)];
  const replannedMs = hasClockJumps ? Infinity : plannedOnceMoreMs;
  for (const { merchant, id, path, before } of acts.settings.endpoints) {
    const accepted = traffic.receivers.acceptedAt(path);
    const own = changes.filter(({ endpointId }) => endpointId === id);
    const enabledBetween = (kind: string, fromMs: number, toMs: number): boolean[] =>
      heldBetween(own, fromMs, toMs).map(({ kinds }) => kinds[0] === '*' || kinds.includes(kind));
    for (const { id: eventId, kind, merchantId } of events) {
      if (merchantId !== merchant.merchantId) continue;
      const { beganMs, committedMs: atMs } = room.commits.of(eventId);
      const copiedMs = beganMs - copyMs;
      const isAccepted = accepted.has(eventId);
      if (isAccepted && !enabledBetween(kind, copiedMs, atMs + replannedMs).includes(true))
        return `events: ${kind} ${eventId} was delivered to ${id}, which had not enabled its kind`;
      const isKnown = (own[0]?.fromMs ?? Infinity) <= copiedMs;
      const byCopy = isKnown && !enabledBetween(kind, copiedMs, atMs).includes(false);
      const byPlan = !hasClockJumps && !enabledBetween(kind, atMs, atMs + plannedOnceMoreMs).includes(false);
      if (!isAccepted && !before.has(eventId) && (byCopy || byPlan))
        return `events: ${kind} ${eventId} was not delivered to ${id}, which was added before`;
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
  const text = `SELECT id, kind, merchant_id AS "merchantId" FROM events WHERE kind <> 'webhook_endpoint.test' ORDER BY id`;
  return (await shared.database.asOwner<WrittenEvent & Record<string, unknown>>(text)).rows;
}

interface ChangedKinds {
  id: string;
  endpointId: string;
  /** What a program sends is logged whole, and what a person changes as what differs. */
  isWhole: boolean;
  /** By their places in the list; null where the list has become shorter. */
  kinds: Readonly<Record<string, string | null>>;
}

/** As the audit log has them. */
async function listChanges({ shared, commits }: World['room']): Promise<EnabledKinds[]> {
  const text = `SELECT id, object_id AS "endpointId", actor_type = 'key' AS "isWhole", (SELECT json_object_agg(split_part(each->>'field', '.', 2), each->>'after')
      FROM json_array_elements(changes) AS each WHERE each->>'field' LIKE 'enabled_events.%') AS kinds
    FROM audit_entries WHERE action IN ('createWebhookEndpoint', 'updateWebhookEndpoint') AND result = 'done' ORDER BY created_at, id`;
  const { rows } = await shared.database.asOwner<ChangedKinds & Record<string, unknown>>(text);
  const entries = rows
    .filter(({ kinds }) => kinds !== null)
    .map((entry) => ({ ...entry, fromMs: commits.of(entry.id).committedMs }))
    .toSorted((one, other) => one.fromMs - other.fromMs);
  const held = new Map<string, Record<string, string | null>>();
  return entries.map(({ endpointId, isWhole, kinds, fromMs }) => {
    const now = { ...(isWhole ? {} : held.get(endpointId)), ...kinds };
    held.set(endpointId, now);
    return { endpointId, fromMs, kinds: Object.values(now).filter((kind) => kind !== null) };
  });
}
