import type { AdminClient } from '../admin-client.ts';

/*
 * A cluster refuses to distribute a table with a foreign key from or to one that is not distributed. So all are dropped first and
 * added again last; in between their definitions are kept in a table, so that an interrupted run can be continued.
 */

export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

const ourForeignKeys = `SELECT k.conrelid::regclass::text AS "table", k.conname AS name, pg_get_constraintdef(k.oid) AS definition
  FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
  WHERE k.contype = 'f' AND k.conparentid = 0 AND n.nspname IN ('public', 'simulator') ORDER BY 1, 2`;

/** Those that are dropped and have to be added again. */
export async function listDroppedForeignKeys(client: AdminClient): Promise<ForeignKey[]> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('dropped_foreign_keys') IS NOT NULL AS exists`,
  );
  if (found[0]?.exists !== true) return [];
  const { rows } = await client.query<ForeignKey>(
    'SELECT "table", name, definition FROM dropped_foreign_keys ORDER BY "table", name',
  );
  return rows;
}

/** Drops all, in one transaction with their record. */
export async function dropForeignKeys(client: AdminClient): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(
      `CREATE TABLE IF NOT EXISTS dropped_foreign_keys ("table" text NOT NULL, name text NOT NULL, definition text NOT NULL,
         CONSTRAINT dropped_foreign_keys_pkey PRIMARY KEY ("table", name))`,
    );
    const { rows } = await client.query<ForeignKey>(ourForeignKeys);
    for (const { table, name, definition } of rows) {
      await client.query('INSERT INTO dropped_foreign_keys ("table", name, definition) VALUES ($1, $2, $3)', [
        table,
        name,
        definition,
      ]);
      await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Adds one again. A run that was interrupted right after it finds it there. */
export async function addForeignKey(client: AdminClient, { table, name, definition }: ForeignKey): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_constraint WHERE conrelid = $1::regclass AND conname = $2', [
    table,
    name,
  ]);
  if (!rowCount) await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  await client.query('DELETE FROM dropped_foreign_keys WHERE "table" = $1 AND name = $2', [table, name]);
}

/** Once all are there. */
export async function forgetForeignKeys(client: AdminClient): Promise<void> {
  await client.query('DROP TABLE IF EXISTS dropped_foreign_keys');
}
