import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { createBackup } from '../../server/src/backups/create-backup.ts';
import { drillBackup } from '../../server/src/backups/drill-backup.ts';
import { readManifest } from '../../server/src/backups/manifest.ts';
import { restoreBackup } from '../../server/src/backups/restore-backup.ts';
import { readBackupState } from '../../server/src/backups/runs.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { openLogArchive, replaySettings } from '../../server/src/database/embedded/log-archive.ts';
import { processIdentity } from '../../server/src/database/embedded/process-identity.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase, type Database } from '../../server/src/kit/db.ts';
import { overloadError } from '../../server/src/kit/public-error.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { ProcessWorld } from '../harness/process.ts';
import { processesIn, readDemo, readyAt, type Program } from '../harness/program.ts';
import { jsonOf } from '../harness/service-world.ts';

// The tests go on from each other: one service, one backup, one restored copy.
let world: ProcessWorld;
let dataDirectory: string;
let backups: string;
let service: Program;
let api: ApiClient;
let settings: Record<string, string>;
let subAccountId: string;
let backup: string;

before(async () => {
  world = new ProcessWorld();
  dataDirectory = await world.usedDataDirectory();
  backups = join(dirname(dataDirectory), 'backups');
  // Started by root, the server runs as another user, who has to get there.
  chmodSync(dirname(dataDirectory), 0o711);
  settings = { DATA_DIR: dataDirectory, BACKUP_DIR: backups };
  service = world.startServiceInProcess(settings);
  api = createApiClient(await readyAt(service), readDemo(dataDirectory).secret_key);
});
after(() => world.close());

const operate = (...args: string[]) => world.runOperatorInProcess(settings, args);
const operateJson = async <Data>(...args: string[]): Promise<Data> => {
  const { code, stdout, stderr } = await operate(...args, '--json');
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout) as Data;
};

const namesOf = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);
const completeOf = (): string[] => namesOf(join(backups, 'base')).filter((name) => /^\d/.test(name));

/** Ends the current segment of the log, and waits until the server has archived it. */
async function archiveLog(): Promise<void> {
  await withAdminClient(findRunningServer(dataDirectory) ?? '', async (client) => {
    const { rows } = await client.query('SELECT pg_walfile_name(pg_switch_wal()) AS segment');
    await eventually('the segment is archived', () => existsSync(join(backups, 'wal', `${rows[0].segment}.gz`)));
  });
}

test('a backup of the running service is whole, private, and writes its audit entry and its time', async () => {
  const created = await api.post('/v1/sub-accounts', {
    ...{ name: 'Partner', percentage: 50, settlement_code: 'aps', account_number: '7001234' },
  });
  assert.equal(created.status, 201, created.text);
  subAccountId = String(created.body['id']);
  const data = { amount: 100, network: 'aps', account_number: '7000001' };
  const paid = await api.post('/v1/payments', { data, sub_account: subAccountId });
  assert.equal(paid.status, 201, paid.text);
  await eventually('the share is booked', async () => {
    const { body } = await api.get(`/v1/sub-accounts/${subAccountId}`);
    return Number(body['balance']) > 10;
  });
  const made = await operateJson<{ backup: string; bytes: number }>('backup', 'create');
  backup = made.backup;
  assert.deepEqual(completeOf(), [backup]);
  assert.equal(statSync(join(backups, 'base', backup, 'postgres-password')).mode & 0o777, 0o600);
  const listed = await operateJson<{ backup: string }[]>('backup', 'list');
  assert.deepEqual(
    listed.map((one) => one.backup),
    [backup],
  );
});

/** What the audit log says of backups and drills, oldest first. */
async function auditedActs(): Promise<string[]> {
  const { rows } = await withAdminClient(findRunningServer(dataDirectory) ?? '', (client) =>
    client.query("SELECT action FROM audit_entries WHERE action LIKE 'backup.%' ORDER BY id"),
  );
  return rows.map(({ action }) => String(action));
}

test('a command killed within its backup leaves none but its audit entry, and the next one cleans up', async () => {
  const child = world.start([process.execPath, 'server/src/operator/main.ts', 'backup', 'create'], settings);
  const drafts = (): string[] => namesOf(join(backups, 'base')).filter((name) => name.startsWith('new-'));
  await eventually('it copies files', () =>
    drafts().some((name) => existsSync(join(backups, 'base', name, 'cluster'))),
  );
  child.signal('SIGKILL');
  await child.ended;
  assert.equal(drafts().length, 1, 'it was killed before its end');
  assert.deepEqual(await auditedActs(), ['backup.create', 'backup.result', 'backup.create']);
  assert.deepEqual(completeOf(), [backup]);
  // What a command leaves that is killed while it deletes an old backup, which loses its manifest first.
  mkdirSync(join(backups, 'base', '20260101T020000-000Z', 'cluster'), { recursive: true });
  const next = await operateJson<{ backup: string; removed: string[] }>('backup', 'create', '--keep', '1');
  assert.deepEqual(next.removed, [backup]);
  assert.deepEqual(namesOf(join(backups, 'base')), [next.backup]);
  backup = next.backup;
});

test('a backup that is made while the clock is set back stays, and so does the log that later names need', async () => {
  const makeIn2020 = (keep: number) =>
    createBackup({
      ...{ backupDirectory: backups, dataDirectory, keep, onProgress: () => {} },
      adminUrl: findRunningServer(dataDirectory) ?? '',
      clock: { ...systemClock, now: () => new Date(`2020-01-0${keep}T00:00:00Z`) },
    });
  const { manifest, removed } = await makeIn2020(1);
  assert.deepEqual([removed, completeOf()], [[], [manifest.name, backup]]);
  const { firstSegment } = readManifest(join(backups, 'base', backup));
  await archiveLog();
  const second = await makeIn2020(2);
  assert.ok(second.manifest.firstSegment > firstSegment);
  assert.deepEqual([second.removed, completeOf()], [[manifest.name], [second.manifest.name, backup]]);
  assert.ok(existsSync(join(backups, 'wal', `${firstSegment}.gz`)), 'without it the other backup is worth nothing');
  rmSync(join(backups, 'base', second.manifest.name), { recursive: true });
});

const drillWith = (
  verify: Parameters<typeof drillBackup>[0]['verify'],
  { clock = systemClock, onProgress = () => {} } = {},
) => drillBackup({ backupDirectory: backups, name: null, clock, onProgress, verify });
const verifyNothing = async () => ({ movements: 0, problem: null });

test('a drill restores the backup beside the service, verifies its ledger, and leaves nothing', async () => {
  const drilling = operateJson<Record<string, unknown>>('backup', 'drill');
  await eventually('it has begun', () => existsSync(join(backups, 'drill', 'dalasi.lock')));
  // Another one is refused, and does not disturb it.
  await assert.rejects(drillWith(verifyNothing), { message: /^Process \d+ is doing a drill; wait for it\.$/ });
  const { ok, movements, lost_seconds_at_most: lost } = await drilling;
  assert.ok(ok === true && Number(movements) > 0 && lost !== null);
  assert.equal(existsSync(join(backups, 'drill')), false);
  assert.deepEqual(processesIn(backups), []);
  assert.deepEqual((await auditedActs()).slice(-2), ['backup.drill', 'backup.drill_result']);
});

test('a log whose archive command hangs is reported while a segment waits, also after a crash', async () => {
  await archiveLog();
  const url = findRunningServer(dataDirectory) ?? '';
  const db = openDatabase({ url, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  // At once, also in the millisecond in which the server begins to count.
  const failedAt = async () => (await readBackupState(db, systemClock.now(), -1_000)).archiveFailedAt;
  await eventually('nothing waits', async () => (await failedAt()) === null);
  await withAdminClient(url, async (client) => {
    const { rows } = await client.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'archiver'");
    process.kill(rows[0].pid, 'SIGSTOP');
    for (const step of ["pg_create_restore_point('full')", 'pg_switch_wal()', "pg_create_restore_point('next')"])
      await client.query(`SELECT ${step}`);
    const reported = await failedAt();
    // As after a crash, which loses what was counted.
    await client.query("SELECT pg_stat_reset_shared('archiver')");
    const afterCrash = await failedAt();
    process.kill(rows[0].pid, 'SIGCONT');
    assert.ok(reported instanceof Date && afterCrash instanceof Date);
  });
  await eventually('it is archived', async () => (await failedAt()) === null);
  await db.close();
});

test('a mistyped name of a backup is a usage error, and no failed drill', async () => {
  const acts = await auditedActs();
  const directory = join(dirname(dataDirectory), 'mistyped');
  for (const words of [['drill'], ['restore', '--to', directory]]) {
    const { code, stderr } = await operate('backup', ...words, '--backup', `${backup}Z`);
    assert.deepEqual([code, stderr.includes('There is no complete backup')], [2, true], stderr);
  }
  assert.deepEqual([await auditedActs(), existsSync(directory)], [acts, false]);
});

test('of two drills that take over the lock of a killed one at once, the earlier one is refused', async () => {
  const directory = join(backups, 'drill');
  const lockOf = (pid: number, identity = processIdentity(pid)) =>
    writeFileSync(join(directory, 'dalasi.lock'), JSON.stringify({ pid, identity }));
  mkdirSync(directory);
  lockOf(process.ppid, 'of a process that is gone');
  // The other one replaces the lock while this one waits to see whether it keeps it.
  const clock = { ...systemClock, sleep: async () => lockOf(process.ppid) };
  const message = `Process ${process.ppid} is doing a drill; wait for it.`;
  await assert.rejects(drillWith(verifyNothing, { clock }), { message });
  rmSync(directory, { recursive: true });
});

test('a drill that is refused without a cause has failed, with the words of the refusal', async () => {
  const refuse = (): never => {
    throw overloadError('unavailable', 'All connections are in use.');
  };
  // At its first file.
  const { problem } = await drillWith(verifyNothing, { onProgress: refuse });
  assert.equal(problem, 'All connections are in use.');
});

test('a drill whose copy the server cannot read has failed, with what the server says', async () => {
  const { problem } = await drillWith(async (copy: Database) => {
    await copy.run({ name: 'test_unreadable', text: `SELECT 'page 7'::integer`, values: [] });
    return { movements: 0, problem: null };
  });
  assert.equal(problem, 'invalid input syntax for type integer: "page 7"');
  assert.equal(existsSync(join(backups, 'drill')), false);
});

test('a start with the directory of its own backups writes nothing there: a full disk stops no payment', () => {
  const changedAt = () => statSync(backups, { bigint: true }).mtimeNs;
  const before = changedAt();
  openLogArchive(backups, dataDirectory);
  assert.equal(changedAt(), before);
});

test('a replay that cannot unpack a segment ends, and does not take it for the end of the log', () => {
  const [segment = ''] = namesOf(join(backups, 'wal')).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name));
  const command = replaySettings('wal', null)['restore_command'] ?? '';
  const statusOf = (file: string, target: string) =>
    spawnSync('/bin/sh', ['-c', command.replaceAll('%f', file).replaceAll('%p', target)], { cwd: backups }).status;
  const name = segment.replace('.gz', '');
  assert.deepEqual(
    [statusOf(name, '/dev/null'), statusOf('0'.repeat(24), '/dev/null'), statusOf(name, '/dev/full')],
    [0, 1, 255],
  );
});

test('a restore that finds its disk full says so, and leaves no database', async () => {
  const target = join(dirname(dataDirectory), 'full');
  const onProgress = () => {
    throw Object.assign(new Error('write'), { code: 'ENOSPC' });
  };
  const parts = { backupDirectory: backups, name: null, until: null, target, clock: systemClock, log: () => {} };
  await assert.rejects(restoreBackup({ ...parts, onProgress }), {
    message: `No space is left in ${target}: nothing was restored.`,
  });
  assert.deepEqual(namesOf(target), []);
});

test('a restore refuses a directory that is not empty, and leaves it as it is', async () => {
  const directory = join(dirname(dataDirectory), 'occupied');
  mkdirSync(directory);
  writeFileSync(join(directory, 'letter.txt'), 'Dear Awa');
  const { code, stdout, stderr } = await operate('backup', 'restore', '--to', directory);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /is not empty; restore into a new directory/);
  assert.deepEqual(readdirSync(directory), ['letter.txt']);
  const ontoFile = await operate('backup', 'restore', '--to', join(directory, 'letter.txt'));
  assert.deepEqual([ontoFile.code, ontoFile.stderr.includes('letter.txt is a file')], [1, true], ontoFile.stderr);
  assert.equal((await operate('backup', 'restore', '--to', '')).code, 2);
});

test('a damaged backup is refused, also by the drill, leaves no database, and blocks no other one', async () => {
  const path = join(backups, 'base', backup, 'cluster/PG_VERSION');
  const content = readFileSync(path);
  const directory = join(dirname(dataDirectory), 'refused');
  const refuses = async (sentence: RegExp): Promise<void> => {
    const { code, stderr } = await operate('backup', 'restore', '--to', directory);
    assert.equal(code, 1);
    assert.match(stderr, sentence);
    assert.deepEqual(namesOf(directory), []);
  };
  writeFileSync(path, '17\n');
  await refuses(/The backup is damaged: \S+PG_VERSION is not as it was written/);
  const { code, stdout } = await operate('backup', 'drill');
  assert.equal(code, 1);
  assert.match(stdout, /^The drill FAILED after \d+ s: The backup is damaged/);
  rmSync(path);
  await refuses(/The backup is damaged: \S+PG_VERSION is missing/);
  writeFileSync(path, content);
  appendFileSync(join(backups, 'base', backup, 'manifest.json'), '');
  const manifest = join(backups, 'base', backup, 'manifest.json');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace('"bytes":', '"bytes":1'));
  await refuses(/manifest\.json is damaged/);
  const listed = await operateJson<{ backup: string; ended_at: string | null }[]>('backup', 'list');
  assert.deepEqual(
    listed.map(({ backup: name, ended_at: at }) => [name, at]),
    [[backup, null]],
  );
  const logBefore = namesOf(join(backups, 'wal'));
  const next = await operateJson<{ backup: string; removed: string[] }>('backup', 'create', '--keep', '2');
  assert.deepEqual(next.removed, []);
  assert.deepEqual(
    logBefore.filter((name) => !namesOf(join(backups, 'wal')).includes(name)),
    [],
  );
  writeFileSync(manifest, text);
  backup = next.backup;
});

/** A copy of an earlier time lacks the business that was created after it. */
async function assertStateAt(time: string): Promise<void> {
  const directory = join(dirname(dataDirectory), 'earlier');
  const environment = { DATA_DIR: directory, BACKUP_DIR: backups };
  const restored = await world.runOperatorInProcess(environment, [
    'backup',
    'restore',
    '--to',
    directory,
    '--at',
    time,
  ]);
  assert.equal(restored.code, 0, restored.stderr);
  writeFileSync(join(directory, 'secrets.json'), readFileSync(join(dataDirectory, 'secrets.json')), { mode: 0o600 });
  const { stdout } = await world.runOperatorInProcess({ DATA_DIR: directory }, ['businesses', 'list']);
  assert.ok(stdout.includes('Demo') && !stdout.includes('Brikama Fabrics'), stdout);
}

test('the log since the backup is replayed, whole or up to a time; a damaged one is refused', async () => {
  const earlier = new Date().toISOString();
  await operateJson('businesses', 'create', 'Brikama Fabrics');
  await archiveLog();
  const segments = readdirSync(join(backups, 'wal')).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name));
  const newest = join(backups, 'wal', segments.toSorted().at(-1) ?? '');
  const content = readFileSync(newest);
  writeFileSync(newest, content.subarray(0, content.length - 20));
  const directory = join(dirname(dataDirectory), 'restored');
  const refused = await operate('backup', 'restore', '--to', directory);
  assert.match(refused.stderr, /The archived log has a fault: \S+ is damaged/);
  writeFileSync(newest, content);
  service.stop();
  assert.equal((await service.ended).code, 0, service.stderr());
  const { segments: replayed } = await operateJson<{ segments: number }>('backup', 'restore', '--to', directory);
  assert.ok(replayed >= 2);
  settings = { DATA_DIR: directory, BACKUP_DIR: backups };
  writeFileSync(join(directory, 'secrets.json'), readFileSync(join(dataDirectory, 'secrets.json')), { mode: 0o600 });
  const mixed = await operate('businesses', 'list');
  assert.match(mixed.stderr, /has the backups of another database, or of the one that this copy was restored from/);
  settings = { DATA_DIR: directory, BACKUP_DIR: join(dirname(dataDirectory), 'next-backups') };
  const listed = await operateJson<{ name: string }[]>('businesses', 'list');
  assert.ok(listed.some(({ name }) => name.startsWith('Brikama Fabrics')));
  await assertStateAt(earlier);
});

test('a restored copy makes no payout until it is released, and then looks it up before it sends it', async () => {
  const copy = world.startServiceInProcess({ ...settings, LOG_LEVEL: 'warn' });
  const url = await readyAt(copy);
  assert.match(copy.stderr(), /restored copy.*restore release/);
  const { secret_key: key } = readDemo(dataDirectory);
  const merchants = await operateJson<{ merchant_id: string; name: string; test_mode: boolean }[]>(
    'businesses',
    'list',
  );
  const held = createApiClient(url, key);
  const ready = await fetch(`${url}/readyz`);
  assert.equal(ready.status, 503);
  const { checks } = (await ready.json()) as { checks: { restored: { held: boolean } } };
  assert.equal(checks.restored.held, true);
  assert.equal((await held.get(`/v1/sub-accounts/${subAccountId}`)).status, 200);
  const refused = await held.post('/v1/payments', { data: { amount: 5, network: 'aps', account_number: '7001234' } });
  assert.deepEqual([refused.status, refused.body['code']], [503, 'unavailable']);
  // The command creates the payout and tells the workers, who would send it at once.
  for (const { merchant_id: merchant, test_mode: isTest } of merchants)
    if (isTest) await operate('settlement', 'run', '--merchant', merchant);
  const released = await operateJson<Record<string, unknown>>('restore', 'release');
  assert.deepEqual(released, { held: false, transfers_looked_up: 1 }, 'it had not been sent');
  await eventually('the copy is ready', async () => (await fetch(`${url}/readyz`)).status === 200);
  await eventually('the payout is looked up', async () => {
    const { rows } = await withAdminClient(findRunningServer(settings['DATA_DIR'] ?? '') ?? '', (client) =>
      client.query("SELECT attempts FROM outbox WHERE kind = 'look_up_transfer'"),
    );
    return rows.some(({ attempts }) => Number(attempts) > 0);
  });
  copy.stop();
  assert.equal((await copy.ended).code, 0);
  assert.equal(jsonOf<{ ok: boolean }>(await operate('ledger', 'verify', '--json')).ok, true);
});
