import { withAdminClient } from '../../server/src/database/admin-client.ts';
import type { TestService } from './service.ts';

type Owned = Pick<TestService, 'database'>;

/** Runs a statement past the service, as the owner of the tables: to look, and to break things on purpose. */
export function asOwner<Row>(service: Owned, text: string, values: unknown[] = []): Promise<Row[]> {
  return withAdminClient(service.database.adminUrl, async (client) => (await client.query(text, values)).rows as Row[]);
}

/** Holds what the statement locks while `body` runs, then gives it back as if nothing had been done. */
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

/** How many rows a merchant has in each of these tables. */
export async function countRows<Table extends string>(
  service: Owned,
  merchantId: string,
  ...tables: Table[]
): Promise<Record<Table, number>> {
  const counts = tables.map((table) => `(SELECT count(*)::integer FROM ${table} WHERE merchant_id = $1) AS "${table}"`);
  const [row] = await asOwner<Record<Table, number>>(service, `SELECT ${counts.join(', ')}`, [merchantId]);
  if (!row) throw new Error('the database did not count');
  return row;
}

/** Everything that is stored, by table, as text; what is stored as bytes stands there in hex. */
export async function dumpTables(service: Owned): Promise<Map<string, string>> {
  const tables = await asOwner<{ name: string }>(
    service,
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  );
  const dumped = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await asOwner<{ row: string }>(service, `SELECT dumped::text AS row FROM ${name} AS dumped`);
    dumped.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dumped;
}
