import type { AdminClient } from '../admin-client.ts';
import { placements, type Placement } from '../placement.ts';

/** A node of the cluster, as its coordinator answers for it. */
export interface ClusterNode {
  name: string;
  port: number;
  /** Null when it answers; otherwise why it does not. */
  problem: string | null;
}

/** Whether this database is the coordinator of a cluster: the Citus extension is installed in it. */
export async function isCluster(client: AdminClient): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('citus_tables') IS NOT NULL AS found`);
  return rows[0]?.found === true;
}

/** Where the tables are now; those that are in none of the places of a cluster are missing. */
async function readPlacements(client: AdminClient): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; type: string; column: string }>(
    `SELECT table_name::text AS name, citus_table_type AS type, distribution_column AS column FROM citus_tables`,
  );
  return new Map(rows.map(({ name, type, column }) => [name, type === 'distributed' ? column : type]));
}

/** As `citus_tables` says it. */
function nameOf(placement: Placement): string {
  if (typeof placement === 'object') return placement.by;
  return placement === 'reference' ? 'reference' : 'local';
}

export interface TableToDistribute {
  table: string;
  placement: Placement;
}

export interface ClusterTables {
  /** Those that have to be distributed, in the order in which this is done. */
  missing: TableToDistribute[];
  /** Tables that are elsewhere than `placements` says, each in a sentence. */
  misplaced: string[];
}

/** Compares the tables of the schema with `placements`. */
export async function readClusterTables(client: AdminClient): Promise<ClusterTables> {
  const actual = await readPlacements(client);
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('public', 'simulator')`,
  );
  const existing = new Set(rows.map(({ name }) => name));
  const known = [...placements]
    .filter(([table]) => existing.has(table))
    .map(([table, placement]) => ({ table, placement }));
  return {
    missing: known.filter(({ table }) => !actual.has(table)).toSorted(inOrder),
    misplaced: known.flatMap(({ table, placement }) => {
      const found = actual.get(table);
      if (found === undefined || found === nameOf(placement)) return [];
      return [`${table} is placed by ${found}, and not by ${nameOf(placement)}`];
    }),
  };
}

/** Reference tables first, because others refer to them; then merchant_places, which the tables of merchants lie beside. */
function inOrder(left: TableToDistribute, right: TableToDistribute): number {
  return rankOf(left) - rankOf(right) || (left.table < right.table ? -1 : 1);
}

function rankOf({ table, placement }: TableToDistribute): number {
  if (placement === 'reference') return 0;
  if (placement === 'coordinator') return 3;
  return table === firstOf(placement.by) ? 1 : 2;
}

/** The table that the others of the same column lie beside: the first that `placements` names. */
function firstOf(column: string): string | undefined {
  return [...placements].find(([, placement]) => typeof placement === 'object' && placement.by === column)?.[0];
}

/** Moves a table to its nodes with its rows. Foreign keys from and to tables that are not there yet must be dropped before. */
export async function distributeTable(client: AdminClient, { table, placement }: TableToDistribute): Promise<void> {
  if (placement === 'reference') await client.query('SELECT create_reference_table($1)', [table]);
  else if (placement === 'coordinator') await client.query('SELECT citus_add_local_table_to_metadata($1)', [table]);
  else {
    const first = firstOf(placement.by) ?? table;
    await client.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [
      table,
      placement.by,
      first === table ? 'none' : first,
    ]);
  }
}

/** Asks every node of the cluster, the coordinator too, for the value of a setting. */
export async function readSettings(
  client: AdminClient,
  settings: readonly string[],
): Promise<(ClusterNode & { values: Record<string, string> })[]> {
  const pairs = settings.map((name) => `'${name}', current_setting('${name}')`).join(', ');
  const { rows } = await client.query<{ name: string; port: number; success: boolean; result: string }>(
    `SELECT nodename AS name, nodeport AS port, success, result
       FROM run_command_on_all_nodes($1) JOIN pg_dist_node USING (nodeid) ORDER BY groupid`,
    [`SELECT json_build_object(${pairs})`],
  );
  return rows.map(({ name, port, success, result }) => ({
    ...{ name, port, problem: success ? null : result },
    values: success ? (JSON.parse(result) as Record<string, string>) : {},
  }));
}
