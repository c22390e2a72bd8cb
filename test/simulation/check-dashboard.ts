import { verifyChains } from '../../server/src/chain/verify-chain.ts';
import type { CreatedRecord } from './dashboard.ts';
import type { World } from './world.ts';

/** What the people of a business have done at its pages. */
interface Entry {
  action: string;
  objectId: string;
}

const payoutAction = 'createSubAccountPayout';
const actions = new Set(['createRefund', 'createTransfer', payoutAction]);

/**
 * A form has moved money once at most, what its page says was done is in the ledger, each payout and refund that no program has requested
 * stands in the audit log once, and nothing else does; and the chain of the log is whole.
 */
export async function checkDashboard(world: World): Promise<string | null> {
  const { dashboard, room, db } = world;
  if (!dashboard) return null;
  const { rows: transfers } = await room.shared.database.asOwner<Record<string, string>>(
    `SELECT id, amount::text AS amount, sub_account_id AS "subAccountId",
      (SELECT count(*)::text FROM ledger_movements moved WHERE moved.merchant_id = transfers.merchant_id AND (source_id = transfers.id
        OR route = 'record' AND flow = 'refunded_directly'
          AND source_id = (SELECT charge_id FROM refunds WHERE refunds.merchant_id = transfers.merchant_id AND refunds.id = transfers.id))) AS moved
    FROM transfers WHERE merchant_id = $1 AND id <> ALL ($2) AND NOT EXISTS (SELECT FROM settlement_periods p
      WHERE p.merchant_id = transfers.merchant_id AND p.transfer_id = transfers.id)`,
    [world.merchants[0]?.merchantId, requestedByPrograms(world)],
  );
  const byId = new Map(transfers.map((transfer) => [transfer['id'], transfer]));
  for (const { path, location, amountMinor } of dashboard.pressed) {
    // Of a transfer that its program has requested.
    if (path.endsWith('/cancel')) continue;
    const [, id] = /\/(?:transfers|refunds)\/([0-9a-f-]{36})$/.exec(location ?? '') ?? [];
    if (id !== undefined && byId.get(id)?.['moved'] === undefined) return `dashboard: ${location} is not there`;
    if (id !== undefined && byId.get(id)?.['moved'] === '0') return `dashboard: ${location} has moved nothing`;
    const same = transfers.filter(({ amount }) => amount === String(amountMinor));
    if (same.length > 1) return `dashboard: one form has moved ${amountMinor} ${same.length} times`;
  }
  const { findings } = await verifyChains({ db, clock: room.clock.ofMachine() });
  if (findings[0]) return `audit: ${findings[0].what} in the chain of ${findings[0].ownerId}`;
  for (const record of dashboard.created) {
    const difference = await checkCreated(room, record);
    if (difference !== null) return difference;
  }
  return compareWithLog(transfers, await listEntries(room));
}

const creations = {
  link: ['payment_links', 'title', 'createPaymentLink'],
  counter: ['virtual_terminals', 'name', 'createVirtualTerminal'],
  payment: ['payment_intents', 'title', 'createPayment'],
  payment_at_counter: ['payment_intents', 'terminal_id', 'createPaymentAtCounter'],
} as const;

/** A form has created one record at most, that to which it led, and it stands in the audit log once. */
async function checkCreated({ shared }: World['room'], { kind, title, id }: CreatedRecord): Promise<string | null> {
  const [table, column, action] = creations[kind];
  const { rows } = await shared.database.asOwner<{ id: string; logged: number }>(
    `SELECT id, (SELECT count(*)::integer FROM audit_entries WHERE actor_type = 'member' AND result = 'done' AND action = $2
       AND object_id = ${table}.id::text) AS logged FROM ${table} WHERE ${column}::text = $1 OR id::text = $3`,
    [title, action, id ?? ''],
  );
  const [created] = rows;
  if (rows.length > 1) return `dashboard: one form has created ${rows.length} of ${table}`;
  if (id !== undefined && created?.id !== id) return `dashboard: ${id} of ${table} is not there`;
  return created && created.logged !== 1 ? `audit: ${created.id} stands in the log ${created.logged} times` : null;
}

function requestedByPrograms({ acts }: World): string[] {
  return [...acts.transfers.map(({ id }) => id), ...acts.refunds, ...acts.payouts];
}

function compareWithLog(transfers: readonly Record<string, string>[], entries: readonly Entry[]): string | null {
  const count = (objectId: string | undefined, isPayout: boolean): number =>
    entries.filter((entry) => entry.objectId === objectId && (entry.action === payoutAction) === isPayout).length;
  for (const { id, subAccountId } of transfers) {
    const ofSubAccount = transfers.filter((other) => other['subAccountId'] === subAccountId).length;
    const logged = subAccountId ? count(subAccountId, true) : count(id, false);
    const expected = subAccountId ? ofSubAccount : 1;
    if (logged !== expected) return `audit: ${id} stands in the log ${logged} times instead of ${expected}`;
  }
  const known = new Set(transfers.flatMap(({ id, subAccountId }) => [id, subAccountId]));
  const other = entries.find(({ objectId }) => !known.has(objectId));
  return other ? `audit: ${other.action} of ${other.objectId} stands in the log, and is not there` : null;
}

async function listEntries({ shared }: World['room']): Promise<Entry[]> {
  const text = `SELECT action, object_id AS "objectId" FROM audit_entries
    WHERE actor_type = 'member' AND result = 'done' AND action = ANY ($1)`;
  return (await shared.database.asOwner<Entry & Record<string, unknown>>(text, [[...actions]])).rows;
}

/** Each step towards the resolution of a case that was taken at the console stands in the audit log once, and no other does. */
export async function checkConsole({ room, consoleOperators, db }: World): Promise<string | null> {
  if (!consoleOperators) return null;
  const text = `SELECT case_id || ' was ' || step || ' ' || taken || ' times, and stands in the log ' || logged AS what FROM (
      SELECT case_id::text, step, sum(taken) AS taken, sum(logged) AS logged FROM (
        SELECT case_id::text, step, 1 AS taken, 0 AS logged FROM case_resolutions WHERE operator_id = ANY ($1)
        UNION ALL SELECT object_id, substr(action, length('cases.') + 1), 0, 1 FROM audit_entries
          WHERE actor_type = 'operator' AND action LIKE 'cases.%' AND session_id IS NOT NULL
      ) AS each GROUP BY 1, 2
    ) AS steps WHERE taken <> logged ORDER BY 1`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [consoleOperators.operatorIds]);
  if (rows[0]) return `console: case ${rows[0].what}`;
  const { findings } = await verifyChains({ db, clock: room.clock.ofMachine() });
  return findings[0] ? `audit: ${findings[0].what} in the chain of ${findings[0].ownerId}` : null;
}
