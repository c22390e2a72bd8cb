import { valueBy } from '../../kit/run-statement.ts';
import { StartError } from '../../kit/start-error.ts';
import type { AdminClient } from '../admin-client.ts';
import {
  distributeTable,
  isCluster,
  readClusterTables,
  readSettings,
  type ClusterNode,
  type ClusterTables,
} from './cluster-tables.ts';
import { addForeignKey, dropForeignKeys, forgetForeignKeys, listDroppedForeignKeys } from './foreign-keys.ts';

export interface DistributeOptions {
  /** The role that the service connects as. */
  servingRole: string;
  /** The session in which the command itself connects as that role. */
  ownSession?: bigint | undefined;
  /** Called before anything is changed, once nothing refuses it. */
  onBegin?: () => Promise<void>;
  /** How many of the steps are done; called after each. */
  onStep: (done: number, total: number) => void;
}

export interface Distributed {
  tables: number;
  foreignKeys: number;
}

/**
 * Distributes the tables over the nodes of the cluster, with their rows. What an earlier run has done is left as it is, so that an
 * interrupted run is continued, and a run after each migration does what is new.
 *
 * @throws StartError where the database is no cluster, a table is elsewhere than it belongs, or a process of the service is connected.
 */
export async function distribute(
  client: AdminClient,
  { servingRole, ownSession, onBegin, onStep }: DistributeOptions,
): Promise<Distributed> {
  if (!(await isCluster(client))) throw noClusterError();
  const { missing, misplaced } = await readClusterTables(client);
  if (misplaced.length > 0) throw new StartError(`${misplaced.join('; ')}: docs/scaling.md, “To a cluster”.`);
  const hasBegun = (await listDroppedForeignKeys(client)).length > 0;
  if (missing.length > 0 || hasBegun) await refuseRunningService(client, { servingRole, ownSession });
  await onBegin?.();
  if (missing.length > 0 && !hasBegun) await dropForeignKeys(client);
  const foreignKeys = await listDroppedForeignKeys(client);
  const total = missing.length + foreignKeys.length + 1;
  let done = 0;
  const step = async (work: Promise<void>): Promise<void> => {
    await work;
    done += 1;
    onStep(done, total);
  };
  for (const table of missing) await step(distributeTable(client, table));
  for (const key of foreignKeys) await step(addForeignKey(client, key));
  await forgetForeignKeys(client);
  await step(setUpServingRole(client, servingRole));
  return { tables: missing.length, foreignKeys: foreignKeys.length };
}

/** The session of the connection that answers, as `pg_stat_activity` has it. A pool may have others. */
export const readOwnSession = valueBy<bigint, []>({
  name: 'database.readOwnSession',
  text: 'SELECT pg_backend_pid()::bigint AS value',
  none: 0n,
});

export function noClusterError(): StartError {
  return new StartError(
    'This database is not the coordinator of a cluster: it has no Citus extension. docs/scaling.md, “To a cluster”, says how to make one.',
  );
}

/** Without foreign keys, and while its tables move, nobody may write. */
async function refuseRunningService(
  client: AdminClient,
  { servingRole, ownSession }: Pick<DistributeOptions, 'servingRole' | 'ownSession'>,
): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM pg_stat_activity
      WHERE usename = $1 AND datname = current_database() AND pid IS DISTINCT FROM $2::bigint`,
    [servingRole, ownSession ?? null],
  );
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  throw new StartError(`${count} connections of the service are open; stop every process of it, then run this again.`);
}

// What a session sets reaches the coordinator only; what its role sets reaches every node (docs/scaling.md, “What a statement may do”).
const roleSettings = { lock_timeout: '1200ms', synchronous_commit: 'on' } as const;

async function setUpServingRole(client: AdminClient, role: string): Promise<void> {
  for (const [name, value] of Object.entries(roleSettings)) {
    await client.query(`ALTER ROLE "${role.replaceAll('"', '""')}" SET ${name} = '${value}'`);
  }
}

export interface ClusterStatus extends ClusterTables {
  nodes: (ClusterNode & { values: Record<string, string> })[];
  /** How many foreign keys an interrupted run has to add again. */
  foreignKeysDropped: number;
  /** What an operator has to see to, each in a sentence. */
  problems: string[];
}

/** Rows that were committed must survive a power cut on every node. */
const durableSettings: Readonly<Record<string, (value: string) => boolean>> = {
  fsync: (value) => value === 'on',
  full_page_writes: (value) => value === 'on',
  synchronous_commit: (value) => value !== 'off',
};

/** Where the tables are, whether every node answers, and whether any may lose committed rows. */
export async function readClusterStatus(client: AdminClient): Promise<ClusterStatus> {
  if (!(await isCluster(client))) throw noClusterError();
  const tables = await readClusterTables(client);
  const foreignKeysDropped = (await listDroppedForeignKeys(client)).length;
  const nodes = await readSettings(client, Object.keys(durableSettings));
  const problems = [
    ...tables.misplaced.map((sentence) => `${sentence}.`),
    ...(tables.missing.length > 0 ? [`${tables.missing.length} tables are not distributed.`] : []),
    ...(foreignKeysDropped > 0 ? [`${foreignKeysDropped} foreign keys have to be added again.`] : []),
    ...nodes.flatMap(({ name, port, problem, values }) =>
      problem === null
        ? Object.entries(durableSettings)
            .filter(([setting, isDurable]) => !isDurable(values[setting] ?? ''))
            .map(([setting]) => `${name}:${port} may lose committed rows: ${setting} is ${values[setting]}.`)
        : [`${name}:${port} does not answer: ${problem}`],
    ),
  ];
  return { ...tables, nodes, foreignKeysDropped, problems };
}
