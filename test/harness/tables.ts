import { withAdminClient } from '../../server/src/database/admin-client.ts';
import type { Queryable } from '../../server/src/kit/db.ts';
import type { TestService } from './service.ts';

type Owned = Pick<TestService, 'database'>;

/** Runs a statement as the owner of the tables, past the service: to read, or to break things on purpose. */
export async function asOwner<Row>(service: Owned, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await service.database.asOwner(text, values);
  return rows as Row[];
}

/** Holds the statement's locks while `body` runs, then rolls back. */
export function whileLocked<Result>(
  service: Owned,
  lock: { text: string; values?: unknown[] },
  body: () => Promise<Result>,
): Promise<Result> {
  return withAdminClient(service.database.adminUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(lock.text, lock.values ?? []);
    try {
      return await body();
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

/** How many statements of this database wait for another's lock. */
export async function countWaiting(db: Queryable): Promise<number> {
  const row = await db.row<{ count: bigint }>({
    name: 'test_waiting',
    text: `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    values: [],
  });
  return Number(row?.count ?? 0n);
}

/** The simulated networks' callbacks are lost from now on, until `restoreCallbacks`. */
export async function dropCallbacks(service: Owned): Promise<void> {
  // Not a rule: a statement prepared under DO INSTEAD NOTHING keeps doing nothing once the rule is dropped.
  await asOwner(service, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
  const trigger = 'BEFORE INSERT ON simulator.callbacks FOR EACH ROW EXECUTE FUNCTION lose()';
  await asOwner(service, `CREATE TRIGGER lost ${trigger}`);
}

export async function restoreCallbacks(service: Owned): Promise<void> {
  await asOwner(service, 'DROP FUNCTION lose() CASCADE');
}

/**
 * Ends the outbox's leases now, when the next sweep looks, and makes its work a minute older: a network that has no record of
 * a call half a minute later counts as never called. Only for work from before `begunBy`; later calls may still be on their way.
 */
export async function expireLeases(adminUrl: string, begunBy: Date): Promise<void> {
  await withAdminClient(adminUrl, (client) =>
    client.query(
      `UPDATE outbox SET due_at = least(due_at, clock_timestamp()), created_at = created_at - interval '1 minute'
       WHERE created_at <= $1`,
      [begunBy],
    ),
  );
}

/** The number of a merchant's rows in each of these tables. */
export async function countRows<Table extends string>(
  service: Owned,
  merchantId: string,
  ...tables: Table[]
): Promise<Record<Table, number>> {
  const counts = tables.map((table) => `(SELECT count(*)::integer FROM ${table} WHERE merchant_id = $1) AS "${table}"`);
  const [row] = await asOwner<Record<Table, number>>(service, `SELECT ${counts.join(', ')}`, [merchantId]);
  if (!row) throw new Error('the count has no row');
  return row;
}

/**
 * All rows by table, as text, sorted: an update moves a row, also one that changes nothing we look at; bytes as hex. Without the hash
 * chains, to which a worker appends at any time.
 */
export async function dumpTables(service: Owned): Promise<Map<string, string>> {
  const dumped = new Map<string, string>();
  for (const name of (await listTables(service)).filter((table) => !table.endsWith('_blocks'))) {
    const rows = await asOwner<{ row: string }>(
      service,
      `SELECT dumped::text AS row FROM ${name} AS dumped ORDER BY 1`,
    );
    dumped.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dumped;
}

/** What people create and change. Other tables are written by workers and by looking at pages. */
const writtenByPeople =
  /^public\.(payment_|refund|transfers|customers|virtual_|sub_account|webhook_endpoints|api_keys|merchants|businesses|memberships|invitations|audit_entries|fee_|default_|cases|case_|operator|ledger_ver|business_|transfer_limits|reserve_|rail_)/;

/**
 * All rows by table of what people create and change: equal before and after an action that had no effect. Without the
 * time of the last change, which a worker moves on when it looks again at a transfer that waits.
 */
export async function dumpOwnTables(service: Owned): Promise<Record<string, unknown[]>> {
  const dumped: Record<string, unknown[]> = {};
  for (const name of (await listTables(service)).filter((table) => writtenByPeople.test(table))) {
    const rows = await asOwner<{ row: unknown }>(
      service,
      `SELECT to_jsonb(dumped) - 'updated_at' AS row FROM ${name} AS dumped ORDER BY (to_jsonb(dumped) - 'updated_at')::text`,
    );
    dumped[name] = rows.map(({ row }) => row);
  }
  return dumped;
}

/** Every table as `schema.table`. */
export async function listTables(service: Owned): Promise<string[]> {
  const tables = await asOwner<{ name: string }>(
    service,
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  );
  return tables.map(({ name }) => name);
}
