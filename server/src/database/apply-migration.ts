import { addMs, type Clock } from '../kit/clock.ts';
import { errorCode, reasonOf, StartError } from '../kit/start-error.ts';
import type { AdminClient } from './admin-client.ts';
import { isDistributed, runOnCluster } from './cluster/migrate-cluster.ts';
import { describeLockHolder, findLockHolders, findStillOpen, inBoth, type LockHolder } from './lock-holders.ts';
import { labelOf, type Migration } from './migration-files.ts';

export interface ApplyParts {
  client: AdminClient;
  /** Of the session of `client`. */
  pid: number;
  /** Another connection, which sees what that session waits for. */
  observer: AdminClient;
  clock: Clock;
  log: (sentence: string) => void;
}

// Every request for a table waits behind a migration that waits for it. No request may wait for a second, and a file may lock
// several tables, one after the other.
const lockTimeoutMs = 200;
// From here on an autovacuum gives way to a migration. The server's default is a second.
const deadlockTimeoutMs = 100;
const pauseMs = 1_000;
const pauseMaxMs = 10_000;
// A dump of a large database takes hours.
const waitMaxMs = 6 * 60 * 60 * 1_000;
const firstLookMs = 100;
const lookEveryMaxMs = 5_000;
// Nothing that has been rolled back has had an effect.
const lockNotAvailable = '55P03';
const deadlockDetected = '40P01';

/**
 * Applies a file and marks it as applied, in one transaction; a file with CREATE INDEX CONCURRENTLY cannot be in one, and is
 * repeated. Where a table is in use, it does not wait for it in the queue of its lock, where every request would wait behind it: it
 * tries again once the transactions that had the table in use have ended, and logs whose they are.
 *
 * @throws StartError when the file fails, or when a table has been in use for hours.
 */
export async function applyMigration(parts: ApplyParts, migration: Migration): Promise<void> {
  const { clock, log } = parts;
  const giveUpAt = addMs(clock.now(), waitMaxMs);
  for (let attempt = 1; ; attempt += 1) {
    const refusal = await tryToApply(parts, migration);
    if (refusal === null) return;
    const { holders, cause } = refusal;
    if (clock.now() >= giveUpAt) {
      const last = holders.length > 0 ? `, last by ${nameAll(holders)}` : '';
      throw failure(migration, `a table that it changes has been in use for too long${last}`, cause);
    }
    await clock.sleep(Math.min(attempt * pauseMs, pauseMaxMs));
    // A transaction of the service has long ended.
    let open = await findStillOpen(parts.client, holders);
    log(open.length > 0 ? waitingSentence(migration, open) : `Migration ${labelOf(migration)} ${retries}`);
    while (open.length > 0 && clock.now() < giveUpAt) {
      await clock.sleep(pauseMs);
      open = await findStillOpen(parts.client, open);
    }
  }
}

const retries = `has not got the lock of a table within ${lockTimeoutMs} ms and tries again.`;

function waitingSentence(migration: Migration, holders: readonly LockHolder[]): string {
  const sessions = holders.filter(({ user }) => user !== null);
  const commands = sessions.map(({ pid }) => `SELECT pg_terminate_backend(${pid})`).join('; ');
  const remedy = commands === '' ? '.' : `; to end it now: ${commands}`;
  return `Migration ${labelOf(migration)} waits for ${nameAll(holders)}. It continues when that has ended${remedy}`;
}

function nameAll(holders: readonly LockHolder[]): string {
  return holders.map(describeLockHolder).join(' and ');
}

function failure(migration: Migration, reason: string, cause: unknown): StartError {
  return new StartError(`Migration ${labelOf(migration)} failed and changed nothing: ${reason}.`, { cause });
}

/** A lock that an attempt did not get, and who had it, as far as that was seen. */
interface Refusal {
  holders: LockHolder[];
  cause: unknown;
}

async function tryToApply(parts: ApplyParts, migration: Migration): Promise<Refusal | null> {
  const done = new AbortController();
  const observing = observe(parts, migration, done.signal);
  try {
    await apply(parts, migration);
    done.abort();
    await observing;
    return null;
  } catch (cause) {
    done.abort();
    const holders = await observing;
    if ([lockNotAvailable, deadlockDetected].includes(errorCode(cause) ?? '')) return { holders, cause };
    throw failure(migration, reasonInWords(cause), cause);
  }
}

function reasonInWords(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : reasonOf(error);
}

/**
 * Looks whom the migration waits for, until the signal, and returns whom it saw last. It looks ever less often, because each look
 * stops the server's lock table for a moment. What waits for long is the build of an index, which has no timeout: that is logged.
 */
async function observe(
  { pid, observer, clock, log }: ApplyParts,
  migration: Migration,
  signal: AbortSignal,
): Promise<LockHolder[]> {
  let holders: LockHolder[] = [];
  const logged = new Set<string>();
  for (let pause = firstLookMs; ; pause = Math.min(2 * pause, lookEveryMaxMs)) {
    await clock.sleep(pause, signal);
    if (signal.aborted) return holders;
    // A migration does not fail because nobody can see what it waits for.
    const found = await findLockHolders(observer, pid).catch(() => []);
    const stayed = inBoth(found, holders);
    if (found.length > 0) holders = found;
    if (pause < lookEveryMaxMs || stayed.every(({ transaction }) => logged.has(transaction))) continue;
    for (const { transaction } of stayed) logged.add(transaction);
    log(waitingSentence(migration, stayed));
  }
}

async function apply({ client, clock }: ApplyParts, migration: Migration): Promise<void> {
  const [, index] = concurrentIndex.exec(migration.text) ?? [];
  if (index !== undefined) {
    await dropUnfinishedIndex(client, index);
    await client.query(migration.text);
    return await markApplied(client, migration, clock);
  }
  await client.query('BEGIN');
  try {
    await client.query(limitWaiting);
    if (await isDistributed(client)) await runOnCluster(client, migration.text);
    else await client.query(migration.text);
    await markApplied(client, migration, clock);
    await client.query('COMMIT');
  } catch (error) {
    // A lost connection rolls back by itself; the first error is the one that counts.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

// Only a superuser, or a role with the privilege, may set the second: with another owner, an autovacuum is waited for as any session.
const limitWaiting = `
  SELECT set_config('lock_timeout', '${lockTimeoutMs}ms', true);
  SELECT set_config('deadlock_timeout', '${deadlockTimeoutMs}ms', true) WHERE has_parameter_privilege('deadlock_timeout', 'SET')`;

// PostgreSQL builds such an index outside of a transaction, so it is alone in its file.
const concurrentIndex =
  /^(?:\s*--[^\n]*\n)*\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+(\w+)/i;

/** An interrupted build leaves an invalid index, which IF NOT EXISTS would take for the real one. */
async function dropUnfinishedIndex(client: AdminClient, index: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [index],
  );
  if (rowCount) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
}

async function markApplied(client: AdminClient, { number, name }: Migration, clock: Clock): Promise<void> {
  await client.query('INSERT INTO schema_migrations (number, name, applied_at) VALUES ($1, $2, $3)', [
    number,
    name,
    clock.now(),
  ]);
}
