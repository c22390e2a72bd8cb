import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type pg from 'pg';
import { eventually } from '../../../../test/harness/eventually.ts';
import { processesIn } from '../../../../test/harness/program.ts';
import { fastTemporaryDirectory } from '../../../../test/harness/temporary-directory.ts';
import { StartError } from '../../kit/start-error.ts';
import { withAdminClient } from '../admin-client.ts';
import { clusterDirectoryIn, programOptions } from './cluster.ts';
import { changeConnectionUrl } from '../connection-url.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded.ts';
import { processIdentity } from './process-identity.ts';
import { readServerFile, serverFilePath } from './server-file.ts';

// Made once and copied for each test: a copy takes 30 ms, making one 0.7 s of a whole core.
let madeDirectory: string;
let parent: string;
let dataDirectory: string;
let server: EmbeddedPostgres | undefined;
let child: ChildProcess | undefined;

before(async () => {
  madeDirectory = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-embedded-'));
  const made = await startEmbeddedPostgres({ dataDirectory: madeDirectory, durable: false, log: () => {} });
  await made.stop();
});

after(() => rmSync(madeDirectory, { recursive: true, force: true }));

// The parent is closed to everybody else, as root's home and a checkout in it are.
beforeEach(() => {
  parent = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-embedded-'));
  dataDirectory = join(parent, 'data');
});

afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  child = undefined;
  await server?.stop();
  server = undefined;
  rmSync(parent, { recursive: true, force: true });
});

test('rows outlive a stop and a start', async () => {
  await start({ durable: true });
  await run('CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (1)');
  await stop();
  await start({ durable: true });
  assert.equal(await countRows(), 1);
});

test('a durable server loses no committed row, and checks its pages', async () => {
  await start({ durable: true });
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums']) {
    assert.equal(await readSetting(setting), 'on', setting);
  }
});

test('committed rows survive a kill and an immediate start', async () => {
  await start({ durable: true });
  await run('CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (1)');
  let hasExited = false;
  void server?.exited.then(() => (hasExited = true));
  process.kill(serverPid(), 'SIGKILL');
  await eventually('the server has ended', () => hasExited);
  await stop();
  await start({ durable: true });
  assert.equal(await countRows(), 1);
});

test('a second start on a data directory is refused, naming the process that uses it', async () => {
  await start();
  await assert.rejects(startHere(), (error) => {
    assert(error instanceof StartError);
    assert.match(error.message, new RegExp(`^The data directory .* is in use by process ${process.pid}; `));
    return true;
  });
  await run('SELECT 1');
});

test('a server that a killed process left running is stopped, and its rows are kept', async () => {
  const url = await startInChild();
  await withAdminClient(url, (client) => client.query('CREATE TABLE kept (id bigint); INSERT INTO kept VALUES (1)'));
  const orphan = serverPid();
  await assert.rejects(startHere(), new RegExp(`in use by process ${child?.pid};`));

  await killChild();
  assert.notEqual(processIdentity(orphan), undefined, 'the server should have outlived its parent');
  const logged = await start();
  assert.match(logged.join(), new RegExp(`process ${orphan}`));
  assert.equal(processIdentity(orphan), undefined);
  assert.equal(await countRows(), 1);
});

test('a data directory that was copied with open permissions is closed again', async () => {
  copyMadeCluster();
  chmodSync(clusterDirectoryIn(dataDirectory), 0o755);
  await start();
  assert.equal(statSync(clusterDirectoryIn(dataDirectory)).mode & 0o777, 0o700);
});

test('a dead server whose process id is in use again does not prevent a start', async () => {
  copyMadeCluster();
  const lines = [process.pid, clusterDirectoryIn(dataDirectory), 1, 25_432, '', '127.0.0.1', '', 'ready'];
  writeFileSync(serverFilePath(clusterDirectoryIn(dataDirectory)), `${lines.join('\n')}\n`);
  await start();
});

test('a server ends with its process, also when it was not stopped', async () => {
  await startInChild({ ending: 'process.exit(3)' });
  const pid = serverPid();
  child?.stdin?.end();
  await eventually('the server has ended', () => processIdentity(pid) === undefined);
});

test('an empty data directory gets a cluster that asks for a password', async () => {
  server = await startHere();
  const url = server?.adminUrl ?? '';
  await run('SELECT 1');
  await assert.rejects(
    withAdminClient(changeConnectionUrl(url, { password: 'guess' }), () => Promise.resolve()),
    /StartError: .*password authentication failed/,
  );
});

test('a cluster whose creation was interrupted is created again', async () => {
  startChild();
  await eventually('initdb has begun', () => drafts().length > 0);
  await killChild();
  // One that still wrote while its draft is removed would leave something for the start after this one.
  await eventually('initdb has ended too', () => processesIn(dataDirectory).length === 0);
  server = await startHere();
  await run('SELECT 1');
  assert.deepEqual(drafts(), []);
});

test('a directory that is no cluster is refused and not changed', async () => {
  writeCluster({ 'letter.txt': 'keep me' });
  await assert.rejects(startHere(), /StartError: .*postgres exists but is not a PostgreSQL data directory/);
  assert(existsSync(join(clusterDirectoryIn(dataDirectory), 'letter.txt')));
});

test('a cluster of another major version is refused, naming both versions', async () => {
  writeCluster({ PG_VERSION: '9\n' });
  await assert.rejects(startHere(), /StartError: .* was created by PostgreSQL 9, and this program bundles \d+;/);
});

test('a refused start releases the data directory', async () => {
  writeCluster({});
  await assert.rejects(startHere(), StartError);
  rmSync(dataDirectory, { recursive: true });
  await start();
});

test("the server's programs do not inherit secrets", () => {
  const before = process.env['SEAL_KEY'];
  process.env['SEAL_KEY'] = 'secret';
  try {
    assert(!JSON.stringify(programOptions(parent, undefined).env).includes('secret'));
  } finally {
    if (before === undefined) delete process.env['SEAL_KEY'];
    else process.env['SEAL_KEY'] = before;
  }
});

function writeCluster(files: Record<string, string>): void {
  const directory = clusterDirectoryIn(dataDirectory);
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

async function startHere({ durable = false, log = (_: string) => {} } = {}): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({ dataDirectory, durable, log });
}

function copyMadeCluster(): void {
  if (!existsSync(dataDirectory)) cpSync(madeDirectory, dataDirectory, { recursive: true });
}

/** Starts the server of the test and returns what was logged meanwhile. */
async function start({ durable = false } = {}): Promise<string[]> {
  const logged: string[] = [];
  copyMadeCluster();
  server = await startHere({ durable, log: (sentence) => logged.push(sentence) });
  return logged;
}

async function stop(): Promise<void> {
  await server?.stop();
  server = undefined;
}

async function run(sql: string): Promise<pg.QueryResult> {
  assert(server);
  return await withAdminClient(server.adminUrl, (client) => client.query(sql));
}

async function countRows(): Promise<unknown> {
  return (await run('SELECT count(*)::integer AS count FROM kept')).rows[0]?.count;
}

async function readSetting(name: string): Promise<unknown> {
  return (await run(`SELECT current_setting('${name}') AS value`)).rows[0]?.value;
}

function serverPid(): number {
  const pid = readServerFile(clusterDirectoryIn(dataDirectory))?.pid;
  assert(pid);
  return pid;
}

function drafts(): string[] {
  return existsSync(dataDirectory) ? readdirSync(dataDirectory).filter((name) => name.startsWith('postgres.new-')) : [];
}

/** Another process that starts the server, says its address, and does `ending` when its input ends. */
function startChild({ ending = '' } = {}): ChildProcess {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)};
    const options = { dataDirectory: ${JSON.stringify(dataDirectory)}, durable: false, log: () => {} };
    const { adminUrl } = await startEmbeddedPostgres(options);
    process.stdin.on('end', () => { ${ending} }).resume();
    console.log(adminUrl);`;
  child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  return child;
}

async function startInChild(options: { ending?: string } = {}): Promise<string> {
  copyMadeCluster();
  const starting = startChild(options);
  assert(starting.stdout);
  const ended = once(starting, 'exit').then(() => assert.fail('the child ended before its server was ready'));
  ended.catch(() => {});
  const [address] = await Promise.race([once(starting.stdout, 'data'), ended]);
  return String(address).trim();
}

async function killChild(): Promise<void> {
  assert(child);
  child.kill('SIGKILL');
  await once(child, 'exit');
}
