import type { AdminClient } from '../admin-client.ts';
import { distributeTable, isCluster, readClusterTables } from './cluster-tables.ts';
import { splitStatements } from './split-statements.ts';

/** Whether `operator cluster distribute` has been here. */
export async function isDistributed(client: AdminClient): Promise<boolean> {
  if (!(await isCluster(client))) return false;
  const { rowCount } = await client.query(`SELECT FROM citus_tables WHERE table_name::text = 'merchant_places'`);
  return rowCount === 1;
}

/** Runs a migration in the transaction that is open: statement by statement, and each new table is distributed as it is made. */
export async function runOnCluster(client: AdminClient, text: string): Promise<void> {
  // Changes on all nodes at once cannot be mixed with those of a reference table in one transaction.
  await client.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
  for (const statement of splitStatements(text)) {
    await client.query(statement);
    if (!/^(?:\s|--[^\n]*\n)*CREATE\s+(?:UNLOGGED\s+)?TABLE\b/i.test(statement)) continue;
    for (const table of (await readClusterTables(client)).missing) await distributeTable(client, table);
  }
}
