import { setImmediate as nextRound } from 'node:timers/promises';
import { openDatabase, type Database } from '../../server/src/kit/db.ts';
import { deleteRows } from '../harness/borrowed-database.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { openTestDatabase } from '../harness/open-test-database.ts';
import { machineNames } from './instance.ts';
import { clockOfRetries, connectionsMax } from './under-way.ts';

/** The database of one run after the other. A new one would cost each run half a second of processor time. */
export interface SharedDatabase {
  database: TestDatabase;
  /** Past the service. */
  outside: Database;
  /**
   * The connections of all machines, as few as there are statements under way: each plans each statement once, which costs PostgreSQL
   * up to a tenth of a second.
   */
  connections: Database;
  /** Who waits for a lock, in the order in which the statements began. */
  listLockWaits(): Promise<LockWait[]>;
  cancelStatement(pid: number): Promise<void>;
  /** Breaks all connections of the machines, as a restart does. */
  loseConnections(): Promise<void>;
}

export interface LockWait {
  pid: number;
  /** The processes that hold the lock, or wait for it before this one. */
  blockedBy: readonly number[];
}

const noticeMaxMs = 10_000;
// Deleted rows remain in the files, and their number shall not matter.
const runsMax = 25;
const connectionsName = 'machines';
let current: { shared: SharedDatabase; close: () => Promise<void>; runs: number } | undefined;
// One shape of plan, whatever the tables hold: rows that have no order come in that of an index.
const planSettings = '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan';

/** The database without rows. The run before must have ended. */
export async function emptyDatabase(): Promise<SharedDatabase> {
  if (current && current.runs >= runsMax) await dropSharedDatabase();
  if (current) await deleteRows(current.shared.database);
  current ??= { ...(await openSharedDatabase()), runs: 0 };
  current.runs += 1;
  return current.shared;
}

export async function dropSharedDatabase(): Promise<void> {
  await current?.close();
  current = undefined;
}

async function openSharedDatabase(): Promise<{ shared: SharedDatabase; close: () => Promise<void> }> {
  const database = await createTestDatabase();
  await withoutAutovacuum(database);
  await withoutDeadlockTimeout(database);
  const appUrl = withSettings(database.appUrl, { options: planSettings });
  const outside = openTestDatabase({ appUrl }, { connectionsMax: 2 });
  const losses = { count: 0 };
  const connections = openConnections(appUrl, () => void (losses.count += 1));
  const listLockWaits = async (): Promise<LockWait[]> => {
    const text = `SELECT pid, pg_blocking_pids(pid) AS "blockedBy" FROM pg_stat_activity
                  WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0 ORDER BY query_start`;
    return (await database.asOwner<LockWait & Record<string, unknown>>(text)).rows;
  };
  const cancelStatement = async (pid: number): Promise<void> => {
    await database.asOwner('SELECT pg_cancel_backend($1)', [pid]);
  };
  const loseConnections = async (): Promise<void> => {
    losses.count = 0;
    const text = `SELECT count(pg_terminate_backend(pid))::integer AS ended FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = $1`;
    const { rows } = await database.asOwner<{ ended: number }>(text, [connectionsName]);
    // Until the pools know it: they would hand out a connection that is lost.
    const beganAt = performance.now();
    while (losses.count < (rows[0]?.ended ?? 0)) {
      await nextRound();
      if (performance.now() - beganAt > noticeMaxMs) throw new Error('a lost connection is not noticed');
    }
  };
  const close = async (): Promise<void> => {
    await connections.close();
    await outside.close();
    await database.drop();
  };
  const statements = { listLockWaits, cancelStatement, loseConnections };
  return { shared: { database, outside, connections, ...statements }, close };
}

function openConnections(appUrl: string, onConnectionError: () => void): Database {
  return openDatabase({
    url: withSettings(appUrl, { application_name: connectionsName }),
    connectionsMax: connectionsMax * (machineNames.length + 1),
    ...{ clock: clockOfRetries, refuseNestedUse: true, isPatient: true, onConnectionError },
  });
}

function withSettings(address: string, settings: Record<string, string>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, value);
  return url.href;
}

/** Deadlocks are found by `lock-timeouts.ts`, at virtual times. */
async function withoutDeadlockTimeout(database: TestDatabase): Promise<void> {
  const name = new URL(database.adminUrl).pathname.slice(1);
  await database.asOwner(`ALTER DATABASE "${name}" SET deadlock_timeout = '1h'`);
}

/** Statistics that change at some real time would change plans, and with them the order of rows. */
async function withoutAutovacuum(database: TestDatabase): Promise<void> {
  const { rows } = await database.asOwner<{ text: string }>(
    `SELECT format('ALTER TABLE %s SET (autovacuum_enabled = false)', oid::regclass) AS text
     FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'simulator'::regnamespace)`,
  );
  await database.asOwner(rows.map(({ text }) => text).join(';'));
}
