import { checkKinds } from './check-kinds.ts';
import { percentagesOf } from './merchant-settings.ts';
import type { World } from './world.ts';

/**
 * Added endpoints have had the events of the kinds that they had enabled (check-kinds.ts), and each of them stands in the audit log once. Each payment that a group shares has the percentages that the group had at one time and
 * is booked by the shares that its merchant was shown.
 */
export async function checkSettings(world: World): Promise<string | null> {
  const { endpoints, payments } = world.acts.settings;
  if (endpoints.length === 0 && payments.length === 0) return null;
  return (await checkEndpoints(world)) ?? checkShares(world);
}

async function checkEndpoints(world: World): Promise<string | null> {
  const { database } = world.room.shared;
  const wrongEvent = await checkKinds(world);
  if (wrongEvent !== null) return wrongEvent;
  const { rows: created } = await database.asOwner<{ id: string; logged: number }>(
    `SELECT id, (SELECT count(*)::integer FROM audit_entries WHERE action = 'createWebhookEndpoint' AND result = 'done'
       AND object_id = webhook_endpoints.id::text) AS logged
     FROM webhook_endpoints WHERE NOT is_default`,
  );
  const wrong = created.find(({ logged }) => logged !== 1);
  if (wrong) return `audit: endpoint ${wrong.id} stands in the log ${wrong.logged} times`;
  const known = new Set(world.acts.settings.endpoints.map(({ id }) => id));
  const unknown = created.find(({ id }) => !known.has(id));
  return unknown ? `endpoints: ${unknown.id} was added, and its merchant was not told` : null;
}

async function checkShares({ room, acts }: World): Promise<string | null> {
  const text = `SELECT charges.intent_id AS id, substr(side, 5, 36) AS sub, sum(moved.amount)::text AS amount
    FROM charges JOIN ledger_movements moved ON moved.merchant_id = charges.merchant_id AND source_id = charges.id
    CROSS JOIN LATERAL (VALUES (credit_account)) AS credited (side)
    WHERE flow = 'collected' AND side LIKE 'sub:%' AND debit_account LIKE 'float:%' GROUP BY 1, 2`;
  const { rows } = await room.shared.database.asOwner<{ id: string; sub: string; amount: string }>(text);
  for (const { id, shares, versions } of acts.settings.payments) {
    if (!versions.includes(percentagesOf(shares)))
      return `shares: payment ${id} has ${percentagesOf(shares)}, which its group never had`;
    const booked = rows.filter((row) => row.id === id);
    if (booked.length === 0) continue;
    for (const { subAccountId, amount } of shares) {
      const sum = booked.find(({ sub }) => sub === subAccountId)?.amount ?? '0';
      if (sum !== String(Math.round(amount * 100)))
        return `shares: ${subAccountId} has ${sum} of payment ${id} instead of ${amount}`;
    }
    if (booked.length !== shares.length) return `shares: payment ${id} is shared with somebody else`;
  }
  return null;
}
