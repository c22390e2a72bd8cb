import type { Database } from '../../server/src/kit/db.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { openTestDatabase } from './open-test-database.ts';

/** A database without rows, and four connections to it as the serving role. */
export interface BorrowedDatabase {
  database: TestDatabase;
  db: Database;
  /** Nothing of the test may be under way in it. */
  giveBack(): Promise<void>;
}

/** Is told when a connection was lost, and what actions after a commit throw. */
type OnError = (what: string, error: unknown) => void;

interface BorrowOptions {
  onError?: OnError;
  /** Default: four. */
  connectionsMax?: number;
}

interface Opened {
  database: TestDatabase;
  db: Database;
  connectionsMax: number;
  schema: string;
  onError: OnError | undefined;
}

// The next test borrows within this time. After the last one nothing is left.
const heldMs = 500;
// Deleted rows remain in the files, and are read.
const bytesMax = 4_000_000;

const held: { opened: Opened; timer: NodeJS.Timeout | undefined }[] = [];
// How many callers of `holdDatabases` have not released them.
let holders = 0;

/**
 * Lends the database that an earlier test has given back, or else a new one. A new one costs PostgreSQL a quarter of a second: its
 * files, its connections, and the first plan of each statement on each of them.
 */
export async function borrowDatabase({ onError, connectionsMax = 4 }: BorrowOptions = {}): Promise<BorrowedDatabase> {
  const index = held.findLastIndex(({ opened }) => opened.connectionsMax === connectionsMax);
  const [free] = index < 0 ? [] : held.splice(index, 1);
  clearTimeout(free?.timer);
  const opened = free?.opened ?? (await open(connectionsMax));
  opened.onError = onError;
  const { database, db } = opened;
  return { database, db, giveBack: () => hold(opened) };
}

/**
 * Until the function that it returns is called, databases that are given back are held however long it takes until they are
 * borrowed: for tests that borrow many at once.
 */
export function holdDatabases(): () => void {
  holders += 1;
  return () => {
    holders -= 1;
    if (holders === 0) for (const entry of held) entry.timer ??= closeSoon(entry);
  };
}

async function open(connectionsMax: number): Promise<Opened> {
  const database = await createTestDatabase();
  const db = openTestDatabase(database, {
    connectionsMax,
    refuseNestedUse: true,
    onConnectionError: (error) => opened.onError?.('a database connection was lost', error),
    onAfterCommitError: (error) => opened.onError?.('an action after a commit failed', error),
  });
  const { schema } = await stateOf(database);
  const opened: Opened = { database, db, connectionsMax, schema, onError: undefined };
  return opened;
}

async function hold(opened: Opened): Promise<void> {
  const { database, schema } = opened;
  const state = await stateOf(database);
  if (Number(state.bytes) > bytesMax || state.busy > 0 || state.schema !== schema) return close(opened);
  await deleteRows(database);
  const entry: (typeof held)[number] = { opened, timer: undefined };
  if (holders === 0) entry.timer = closeSoon(entry);
  held.push(entry);
}

function closeSoon(entry: (typeof held)[number]): NodeJS.Timeout {
  return setTimeout(() => {
    held.splice(held.indexOf(entry), 1);
    void close(entry.opened);
  }, heldMs);
}

async function close({ database, db }: Opened): Promise<void> {
  await db.close();
  await database.drop();
}

interface State {
  /** Of the tables, with rows that were deleted. */
  bytes: string;
  /** How many of the service's connections have a transaction open. */
  busy: number;
  /** What a test may have changed besides rows. */
  schema: string;
}

async function stateOf(database: TestDatabase): Promise<State> {
  const { rows } = await database.asOwner<State & Record<string, unknown>>(
    `SELECT (SELECT sum(pg_relation_size(oid)) FROM pg_class
             WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'simulator'::regnamespace)) AS bytes,
            (SELECT count(*)::integer FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'dalasi' AND state <> 'idle') AS busy,
            concat_ws(' ',
              (SELECT md5(string_agg(relname || coalesce(relacl::text, ''), ' ' ORDER BY oid)) FROM pg_class
               WHERE relnamespace IN ('public'::regnamespace, 'simulator'::regnamespace)),
              (SELECT count(*) FROM pg_constraint), (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_proc),
              (SELECT count(*) FROM pg_db_role_setting AS changed
               JOIN pg_database ON pg_database.oid = changed.setdatabase WHERE datname = current_database())) AS schema`,
  );
  const [state] = rows;
  if (!state) throw new Error('PostgreSQL does not say how the database is');
  return state;
}

/** Deletes everything that tests have written; migrations write no rows. */
export async function deleteRows(database: TestDatabase): Promise<void> {
  const { rows } = await database.asOwner<{ text: string }>(
    `SELECT format('DELETE FROM %s', oid::regclass) AS text FROM pg_class
     WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'simulator'::regnamespace)
       AND relname <> 'schema_migrations' AND pg_relation_size(oid) > 0`,
  );
  // Without foreign keys, whose order would have to be kept.
  await database.asOwner(
    ['BEGIN', 'SET LOCAL session_replication_role = replica', ...rows.map(({ text }) => text), 'COMMIT'].join(';'),
  );
}
