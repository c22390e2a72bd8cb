import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { ensureServingRole } from '../../server/src/database/roles.ts';
import { createTestDatabase } from '../harness/database.ts';
import { startDatabaseServer, type DatabaseServer } from '../harness/database-server.ts';
import { ProcessWorld } from '../harness/process.ts';
import { processesIn, readyAt, type Program } from '../harness/program.ts';
import { overTcp } from '../harness/tcp-proxy.ts';

let world: ProcessWorld;
let databases: DatabaseServer;
let adminUrl: string;
let refusedBySilence: Promise<void>;

before(async () => {
  world = new ProcessWorld();
  databases = await startDatabaseServer();
  // As an operator's own server is reached.
  adminUrl = overTcp(await databases.createDatabase());
  ({ refused: refusedBySilence } = await startBesideSilence());
});

after(async () => {
  await world.close();
  await databases.stop();
});

type Settings = Readonly<Record<string, string>>;

const key = 'ab'.repeat(32);
const production = { APP_ENV: 'production', SEAL_KEY: key, KEY_PEPPER: key, PUBLIC_URL: 'https://pay.example.gm' };

/** Starts with these settings, in this process, and expects one sentence, code 1, and nothing left behind. */
async function refuses(settings: Settings, sentence: RegExp): Promise<void> {
  const dataDirectory = settings['DATA_DIR'] ?? world.newDataDirectory();
  const before = countResources();
  const warnings: Error[] = [];
  const warn = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', warn);
  const service = world.startServiceInProcess({ DATA_DIR: dataDirectory, ...settings });
  await assertRefused(service, dataDirectory, sentence);
  await assertNothingIsLeft(before);
  process.removeListener('warning', warn);
  assert.deepEqual(warnings, [], 'nothing is said beside the sentence');
}

/**
 * A start that waits 20 seconds for a server, in its own process beside the other tests. It has connected when this returns, so
 * that they do not count its connection as theirs.
 */
async function startBesideSilence(): Promise<{ refused: Promise<void> }> {
  // Reads, so that it notices the other side closing.
  const silent = createSocketServer((socket) => socket.on('error', () => {}).resume());
  const connected = once(silent, 'connection');
  const port = await listen(silent);
  const settings = { APP_ENV: 'development', DATABASE_URL: `postgresql://a:b@127.0.0.1:${port}/x` };
  const refused = refusesInChildProcess(settings, /cannot be used: timeout expired\.$/).finally(() => silent.close());
  // Its test awaits it.
  refused.catch(() => {});
  await Promise.race([connected, refused]);
  return { refused };
}

/** The same in its own process, for the exit code and the real streams. */
async function refusesInChildProcess(settings: Settings, sentence: RegExp): Promise<void> {
  const dataDirectory = world.newDataDirectory();
  await assertRefused(world.startService({ DATA_DIR: dataDirectory, ...settings }), dataDirectory, sentence);
}

async function assertRefused(service: Program, dataDirectory: string, sentence: RegExp): Promise<void> {
  const { code } = await service.ended;
  const [firstLine = '', ...otherLines] = service.stderr().split('\n');
  assert.match(firstLine, sentence, service.stderr());
  assert.match(firstLine, /[.]$/, 'it ends like a sentence');
  assert.doesNotMatch(firstLine, /[.] [A-Z]/, 'it is one sentence');
  assert.deepEqual(otherLines, [''], 'nothing else is said');
  assert.equal(code, 1);
  assert.doesNotMatch(service.stdout(), /ready|Stopp/);
  assert.deepEqual(processesIn(dataDirectory), [], 'nobody is left behind');
}

// A closed resource disappears after some ticks of the event loop, on a busy machine some seconds later. A forgotten pool closes itself
// after ten seconds.
const closedWithinMs = 5_000;

async function assertNothingIsLeft(before: ReturnType<typeof countResources>): Promise<void> {
  const findLeft = () => [...countResources()].filter(([name, count]) => count > (before.get(name) ?? 0));
  const beganMs = performance.now();
  while (findLeft().length > 0 && performance.now() - beganMs < closedWithinMs) await new Promise(setImmediate);
  assert.deepEqual(findLeft(), [], 'no socket or timer is left open');
}

/** The resources of a service that keep this process alive; not the test's child processes. */
function countResources(): Map<string, number> {
  const kinds = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|Worker|Message/.test(name));
  return new Map([...Map.groupBy(kinds, (name) => name)].map(([name, found]) => [name, found.length]));
}

function refusesDatabase(url: string, sentence: RegExp): Promise<void> {
  return refuses({ APP_ENV: 'development', DATABASE_URL: url }, sentence);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

// server/src/configuration/config.test.ts has every setting; these are one for each check.
describe('an invalid setting ends the start', () => {
  for (const [name, value, sentence] of [
    ['PORT', '80x', /^PORT must be a whole number from 0 to 65535, not "80x"\.$/],
    ['HOST', '203.0.113.7', /^HOST 203\.0\.113\.7 is not an address of this machine; /],
    ['HOST', 'fe80::1', /^HOST fe80::1 is not an address of this machine; /],
    ['DEMO_WEBHOOK_URL', 'http://user:secret@example.gm/', /^DEMO_WEBHOOK_URL cannot be used: .* password\.$/],
  ] as const) {
    test(`${name}=${value}`, () => refuses({ [name]: value }, sentence));
  }

  test('PORT=-1, in its own process with its exit code', () =>
    refusesInChildProcess({ PORT: '-1' }, /^PORT must be a whole number from 0 to 65535, not "-1"\.$/));

  test('before the application is loaded', async () => {
    const hooks = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });`;
    const words = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, 'server/src/main.ts'];
    const child = world.start([process.execPath, ...words], { PORT: '-1' });
    assert.equal((await child.ended).code, 1);
    assert.match(child.stdout(), /\/server\/src\/configuration\/config\.ts$/m);
    assert.doesNotMatch(child.stdout(), /\/server\/src\/(app|http)\/|\/node_modules\/fastify\//);
  });

  test('an operator’s database without APP_ENV counts as production, whichever of its URLs is set', async () => {
    const sentence = /^SEAL_KEY, KEY_PEPPER and PUBLIC_URL are required in production/;
    await refuses({ DATABASE_URL: adminUrl }, sentence);
    await refuses({ APP_DATABASE_URL: adminUrl }, sentence);
  });
});

describe('a key that does not match the database ends the start', () => {
  for (const [name, sentence] of [
    ['SEAL_KEY', /^SEAL_KEY is not the key that this database was sealed with: the key [0-9a-f]{8} is missing; /],
    ['KEY_PEPPER', /^KEY_PEPPER is not the one that the API keys of this database are stored under; /],
  ] as const) {
    test(name, async () => refuses({ DATA_DIR: await world.usedDataDirectory(), [name]: 'cd'.repeat(32) }, sentence));
  }
});

describe('a resource in use ends the start', () => {
  test('a port in use, before anything is created', async () => {
    const server = createServer();
    const port = await listen(server);
    const dataDirectory = world.newDataDirectory();
    const settings = { PORT: String(port), DATA_DIR: dataDirectory };
    await refuses(settings, new RegExp(`^Port ${port} is in use; .* set PORT to another port\\.$`));
    assert(!existsSync(dataDirectory), 'nothing was made');
    server.close();
  });

  test('a data directory in use, whose service keeps running', async () => {
    const dataDirectory = await world.usedDataDirectory();
    const first = world.startService({ DATA_DIR: dataDirectory });
    const url = await readyAt(first);
    const second = world.startServiceInProcess({ DATA_DIR: dataDirectory });
    assert.equal((await second.ended).code, 1);
    assert.match(second.stderr(), new RegExp(`^The data directory .* is in use by process ${first.pid}; [^\n]*\\.\n$`));
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    first.stop();
    assert.equal((await first.ended).code, 0);
  });

  test('a data directory that is a file', async () => {
    const file = join(world.newDataDirectory(), '..', 'file');
    writeFileSync(file, '');
    const sentence = /^The data directory \S+ is a file, or lies below one; set DATA_DIR to a directory\.$/;
    await refuses({ DATA_DIR: file }, sentence);
    await refuses({ DATA_DIR: join(file, 'data') }, sentence);
  });

  test('a data directory that cannot be written to', async () => {
    // Permissions do not stop root; the system's own directory does.
    const isRoot = process.geteuid?.() === 0;
    const dataDirectory = isRoot ? '/proc/dalasi' : join(world.newDataDirectory(), '..', 'closed');
    if (!isRoot) {
      mkdirSync(dataDirectory);
      chmodSync(dataDirectory, 0o500);
    }
    const sentence = /^The data directory .* cannot be used \(E[A-Z]+ at .*\); make it writable, or set DATA_DIR/;
    await refuses({ DATA_DIR: dataDirectory }, sentence);
    await refuses({ DATA_DIR: dataDirectory, DATABASE_URL: adminUrl, APP_ENV: 'development' }, sentence);
  });
});

describe('a database that cannot be used ends the start', () => {
  test('no server listens', () => refusesDatabase('postgresql://a:b@127.0.0.1:1/x', /ECONNREFUSED\.$/));

  test('wrong password', () => {
    const url = changeConnectionUrl(adminUrl, { password: 'wrong' });
    return refusesDatabase(url, /^The database at 127\.0\.0\.1:\d+ cannot be used: password authentication failed/);
  });

  test('no password', () => {
    const url = changeConnectionUrl(adminUrl, { password: '' });
    return refusesDatabase(url, /cannot be used: DATABASE_URL \(or APP_DATABASE_URL\) has no password\.$/);
  });

  test('no such database', () => {
    const url = changeConnectionUrl(adminUrl, { database: 'nowhere' });
    return refusesDatabase(url, /cannot be used: database "nowhere" does not exist\.$/);
  });

  test('a server that is not PostgreSQL', async () => {
    const web = createServer((_, res) => res.end('hello'));
    const port = await listen(web);
    await refusesDatabase(`postgresql://a:b@127.0.0.1:${port}/x`, /cannot be used: /);
    web.close();
  });

  test('a server that accepts the connection and never responds', () => refusedBySilence);

  test('TLS with a server that has none, without a warning of the driver', () =>
    refusesDatabase(`${adminUrl}?sslmode=require`, /cannot be used: The server does not support SSL connections\.$/));

  test('a server that is not durable', async () => {
    const forgetful = await createTestDatabase();
    await refusesDatabase(forgetful.adminUrl, /may lose committed rows in a power cut: fsync is off/);
    await forgetful.drop();
  });

  test('a schema newer than the program, also where it cannot migrate', async () => {
    const url = await databases.createMigratedDatabase();
    const appUrl = await ensureServingRole({ adminUrl: url, password: 'serving' });
    await withAdminClient(url, (client) => client.query("INSERT INTO schema_migrations VALUES (9999, 'later', now())"));
    const sentence = /^The database is at migration 9999 and this program knows only \d+; start the newer program/;
    await refuses({ ...production, DATABASE_URL: url }, sentence);
    await refuses({ ...production, APP_DATABASE_URL: appUrl }, sentence);
    for (const [name, value] of [
      ['DATABASE_URL', url],
      ['APP_DATABASE_URL', appUrl],
    ] as const) {
      const { code, stderr } = await world.runOperatorInProcess({ ...production, [name]: value }, [
        'businesses',
        'list',
      ]);
      assert.match(stderr, sentence, `an operator's command with ${name}`);
      assert.equal(code, 1);
    }
  });

  test('the owner of the tables in place of the serving role', async () => {
    const url = await databases.createMigratedDatabase();
    const both = { ...production, DATABASE_URL: url, APP_DATABASE_URL: url };
    await refuses(
      both,
      /^DATABASE_URL and APP_DATABASE_URL both connect as \w+; give APP_DATABASE_URL a role that owns/,
    );
    await refuses(
      { ...production, APP_DATABASE_URL: url },
      /^The database role \w+ is a superuser; set APP_DATABASE_URL/,
    );
    const owner = changeConnectionUrl(url, { user: 'shopkeeper', password: 'shopkeeper' });
    await withAdminClient(url, (client) =>
      client.query(
        `CREATE ROLE shopkeeper LOGIN PASSWORD 'shopkeeper'; ALTER TABLE ledger_movements OWNER TO shopkeeper`,
      ),
    );
    await refuses({ ...production, APP_DATABASE_URL: owner }, /^The database role shopkeeper owns ledger_movements; /);
  });

  test('an owner that may not create tables', async () => {
    await withAdminClient(adminUrl, (client) => client.query("CREATE ROLE guest LOGIN PASSWORD 'guest'"));
    const url = changeConnectionUrl(adminUrl, { user: 'guest', password: 'guest' });
    await refusesDatabase(url, /^The database cannot be prepared: permission denied for schema public\.$/);
  });

  test('another KEY_PEPPER than the one that the serving role’s password was derived from', async () => {
    const settings = { ...production, DATABASE_URL: await databases.createMigratedDatabase() };
    const prepared = await world.runOperatorInProcess(settings, ['database', 'prepare']);
    assert.equal(prepared.code, 0, prepared.stderr);
    const entries = 'SELECT actor_name FROM audit_entries WHERE action = $1';
    const { rows } = await withAdminClient(settings.DATABASE_URL, (client) =>
      client.query<{ actor_name: string }>(entries, ['database.prepare']),
    );
    assert.match(rows[0]?.actor_name ?? '', /^command line/);
    await refuses({ ...settings, KEY_PEPPER: 'cd'.repeat(32) }, /^KEY_PEPPER is not the one that the API keys /);
    const listed = await world.runOperatorInProcess(settings, ['businesses', 'list']);
    assert.equal(listed.code, 0, listed.stderr);
  });

  test('a serving role with the wrong password', async () => {
    const url = changeConnectionUrl(adminUrl, { user: 'nobody_here', password: 'wrong' });
    await refuses({ ...production, APP_DATABASE_URL: url }, /cannot be used: password authentication failed/);
  });
});
