import { checkKinds } from './check-kinds.ts';
import { percentagesOf } from './merchant-settings.ts';
import type { World } from './world.ts';

/**
 * Added endpoints have had the events of the kinds that they had enabled (check-kinds.ts), and each of them stands in the audit log once.
 * Each payment that a group or sub-account shares has percentages that held when it was created, and is booked by the shares that its
 * merchant was shown.
 */
export async function checkSettings(world: World): Promise<string | null> {
  return (await checkEndpoints(world)) ?? (await checkShares(world)) ?? checkSubAccounts(world);
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
  const text = `SELECT charges.intent_id AS id, CASE credit_account WHEN 'suspense' THEN credit_account ELSE substr(credit_account, 5, 36) END AS sub,
      sum(moved.amount)::text AS amount
    FROM charges JOIN ledger_movements moved ON moved.merchant_id = charges.merchant_id AND source_id = charges.id
    WHERE flow = 'collected' AND (credit_account LIKE 'sub:%' OR credit_account = 'suspense') AND debit_account LIKE 'float:%' GROUP BY 1, 2`;
  const { rows } = await room.shared.database.asOwner<{ id: string; sub: string; amount: string }>(text);
  const { rows: deleted } = await room.shared.database.asOwner<{ id: string }>(
    'SELECT id FROM sub_accounts WHERE deleted_at IS NOT NULL',
  );
  const deletedIds = new Set(deleted.map(({ id }) => id));
  for (const { id, shares, versions } of [...acts.settings.payments, ...acts.subAccountChanges.payments]) {
    if (!versions.includes(percentagesOf(shares)))
      return `shares: payment ${id} has ${percentagesOf(shares)} instead of ${versions.join(' or ')}`;
    const booked = new Map(rows.filter((row) => row.id === id).map(({ sub, amount }) => [sub, BigInt(amount)]));
    if (booked.size === 0) continue;
    // Of one that was deleted before its money came.
    let unallocated = booked.get('suspense') ?? 0n;
    for (const { subAccountId, amount } of shares) {
      const minor = BigInt(Math.round(amount * 100));
      const sum = booked.get(subAccountId) ?? 0n;
      if (sum === 0n && deletedIds.has(subAccountId)) unallocated -= minor;
      else if (sum !== minor) return `shares: ${subAccountId} has ${sum} of payment ${id} instead of ${amount}`;
    }
    if (unallocated !== 0n) return `shares: ${unallocated} of payment ${id} belongs to nobody`;
    const known = new Set(['suspense', ...shares.map(({ subAccountId }) => subAccountId)]);
    if ([...booked.keys()].some((sub) => !known.has(sub))) return `shares: payment ${id} is shared with somebody else`;
  }
  return null;
}

/** Each sub-account has what its merchant has set, and each of its payouts went where it was to be paid when the payout was requested. */
async function checkSubAccounts({ room, acts }: World): Promise<string | null> {
  const { database } = room.shared;
  const { subAccounts, payouts } = acts.subAccountChanges;
  const { rows } = await database.asOwner<Record<string, string>>(
    `SELECT id, name, (percent_hundredths / 100)::text AS percentage, active::text AS active,
       settlement_code || ' ' || account_number AS destination FROM sub_accounts WHERE deleted_at IS NULL`,
  );
  for (const { id, fields } of subAccounts) {
    const stored = rows.find((row) => row['id'] === id);
    for (const [field, { values }] of Object.entries(fields)) {
      const value = stored?.[field];
      if (value !== undefined && !values.includes(value))
        return `sub-accounts: ${id} has the ${field} ${value} instead of ${values.join(' or ')}`;
    }
  }
  const { rows: paid } = await database.asOwner<{ id: string; name: string; destination: string }>(
    `SELECT id, beneficiary_name AS name, network || ' ' || account_number AS destination FROM transfers WHERE id = ANY ($1)`,
    [payouts.map(({ id }) => id)],
  );
  const wrong = paid.find(({ id, name, destination }) => {
    const requested = payouts.find((payout) => payout.id === id);
    return !requested?.names.includes(name) || !requested.destinations.includes(destination);
  });
  return wrong ? `sub-accounts: ${wrong.id} was paid to ${wrong.name} at ${wrong.destination}` : null;
}
