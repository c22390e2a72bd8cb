import { verifyChains } from '../../server/src/chain/verify-chain.ts';
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
      (SELECT count(*)::text FROM ledger_movements moved WHERE moved.merchant_id = transfers.merchant_id AND source_id = transfers.id) AS moved
    FROM transfers WHERE merchant_id = $1 AND id <> ALL ($2) AND NOT EXISTS (SELECT FROM settlement_periods p
      WHERE p.merchant_id = transfers.merchant_id AND p.transfer_id = transfers.id)`,
    [world.merchants[0]?.merchantId, requestedByPrograms(world)],
  );
  const byId = new Map(transfers.map((transfer) => [transfer['id'], transfer]));
  for (const { location, amountMinor } of dashboard.pressed) {
    const [, id] = /\/(?:transfers|refunds)\/([0-9a-f-]{36})$/.exec(location ?? '') ?? [];
    if (id !== undefined && byId.get(id)?.['moved'] === undefined) return `dashboard: ${location} is not there`;
    if (id !== undefined && byId.get(id)?.['moved'] === '0') return `dashboard: ${location} has moved nothing`;
    const same = transfers.filter(({ amount }) => amount === String(amountMinor));
    if (same.length > 1) return `dashboard: one form has moved ${amountMinor} ${same.length} times`;
  }
  const { findings } = await verifyChains({ db, clock: room.clock.ofMachine() });
  if (findings[0]) return `audit: ${findings[0].what} in the chain of ${findings[0].ownerId}`;
  return compareWithLog(transfers, await listEntries(room));
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
