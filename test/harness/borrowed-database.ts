import type { Database } from '../../server/src/kit/db.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { openTestDatabase } from './open-test-database.ts';

/** A database without rows, and ten connections to it as the serving role. */
export interface BorrowedDatabase {
  database: TestDatabase;
  db: Database;
  /** Nothing may be under way in it. */
  giveBack(): Promise<void>;
}

type Opened = Omit<BorrowedDatabase, 'giveBack'> & { uses: number };

// The next test of a file borrows within this time. After the last one nothing is left.
const heldMs = 100;
// Deleted rows remain in the files until then.
const usesMax = 30;

const held: { opened: Opened; timer: NodeJS.Timeout }[] = [];

/**
 * Lends the database that the test before has given back, or else a new one. A new one costs PostgreSQL a quarter of a second: its
 * files, its connections, and the first plan of each statement on each of them.
 */
export async function borrowDatabase(): Promise<BorrowedDatabase> {
  const free = held.pop();
  clearTimeout(free?.timer);
  const opened = free?.opened ?? (await open());
  opened.uses += 1;
  const { database, db } = opened;
  return { database, db, giveBack: () => hold(opened) };
}

async function open(): Promise<Opened> {
  const database = await createTestDatabase();
  const db = openTestDatabase(database, { connectionsMax: 10, refuseNestedUse: true });
  return { database, db, uses: 0 };
}

async function hold(opened: Opened): Promise<void> {
  const { database } = opened;
  if (opened.uses >= usesMax || (await countBusy(database)) > 0) return close(opened);
  await deleteRows(database);
  const entry = { opened, timer: setTimeout(() => void close(entry.opened, entry), heldMs) };
  held.push(entry);
}

async function close({ database, db }: Opened, entry?: (typeof held)[number]): Promise<void> {
  if (entry) held.splice(held.indexOf(entry), 1);
  await db.close();
  await database.drop();
}

/** The service's connections that have a transaction open. */
async function countBusy(database: TestDatabase): Promise<number> {
  const { rows } = await database.asOwner<{ count: number }>(
    `SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'dalasi' AND state <> 'idle'`,
  );
  return rows[0]?.count ?? 0;
}

/** Deletes everything that tests and migrations have written. */
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
