import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import fastify from 'fastify';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { installStandIn } from '../database/cluster/cluster-stand-in.corpus.ts';
import { changeConnectionUrl } from '../database/connection-url.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { registerGauges } from '../app/gauges.ts';
import { addMs, systemClock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import { createServiceLog } from '../api/service-log.ts';
import { systemRandom } from '../kit/random.ts';
import type { KeyState } from '../keyring/key-check.ts';
import { ChannelBreaker } from '../notifications/channel-breaker.ts';
import { BreakerCopy, payoutBreakers, reportPayout, type BreakerContext } from '../networks/payout-breakers.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import type { RailAccount } from '../rail-accounts/rail-account.ts';
import type { Restore } from '../backups/hold.ts';
import { registerHealth } from './health.ts';
import { createMetrics } from './metrics.ts';
import { createNodeProbe } from './node-probe.ts';
import { createWriteProbe } from './write-probe.ts';

const live = new ScriptedNetwork('wave', { testMode: false, railAccount: 'wave-main' });
const simulated = new ScriptedNetwork('wave', {}, { breakerScope: 'merchant_and_number' });
const networks = createNetworkRegistry([simulated, live]);
const payout = { merchantId: '01939f00-0000-7000-8000-00000000a5f1', number: '+2207001234' };

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let context: BreakerContext;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
});

beforeEach(async () => {
  await db.run({ name: 'test_empty', text: 'DELETE FROM circuit_breakers', values: [] });
  await db.run({ name: 'test_open', text: 'DELETE FROM notification_channels', values: [] });
  clock = new ManualClock();
  keys = { missingSealKeys: [], isSealKnown: true, isSealingKnown: true, isSealingLost: false, pepper: 'right' };
  context = { db, clock, breakers: new BreakerCopy(), log: createServiceLog({ level: 'silent' }) };
});

after(async () => {
  await db.close();
  await database.drop();
});

let keys: KeyState;
let expectsBackups = false;

async function get(
  path: string,
  isClosing = () => false,
  writes = createWriteProbe({ db, clock, random: systemRandom }),
  restore: Restore | null = null,
): Promise<{ status: number; text: string }> {
  const metrics = createMetrics();
  const app = fastify();
  const channelBreaker = new ChannelBreaker(context);
  const seen = {
    db,
    clock,
    breakers: context.breakers,
    networks,
    channelBreaker,
    writes,
    nodes: createNodeProbe({ db, clock }),
    keyring: { state: async () => keys },
    commits: { name: 'commits', inUse: 0, waiting: 0, refused: 0, splits: 0 },
    sharedCommits: { name: 'work_commits', inUse: 0, waiting: 0, refused: 0, splits: 0 },
    gathering: { splits: 0 },
    hold: { held: async () => restore },
    expectsBackups,
    dailyHeads: { recordedAt: null },
    heartbeats: { list: () => [] },
    railAccounts: {
      list: () => [
        { account: mainAccount, problem: null },
        { account: { name: 'wave-shop' } as RailAccount, problem: 'wrong SEAL_KEY' },
      ],
    },
  };
  registerGauges(metrics, seen);
  registerHealth(app, { ...seen, metrics, isClosing });
  const response = await app.inject(path);
  await app.close();
  return { status: response.statusCode, text: response.body };
}

const mainAccount = {
  ...{ name: 'wave-main', merchantId: null, testMode: false, disabledAt: null },
  createdAt: new Date('2026-11-18T00:00:00.000Z'),
} as RailAccount;

async function openBoth(): Promise<void> {
  await reportPayout(context, payoutBreakers(live, payout), 'float_empty');
  await reportPayout(context, payoutBreakers(simulated, payout), 'network_unavailable');
}

test('an open network breaker is reported and leaves the process ready: it affects every process', async () => {
  const wellChecks = {
    database: 'ok',
    writes: 'ok',
    seal_key: 'right',
    key_pepper: 'right',
    closing: false,
    unreadable_values: 0,
    networks: { 'wave:wave-main': 'ok', 'wave:rail-wave': 'ok' },
    rail_accounts_not_connected: ['wave-shop'],
    paused_merchants: 0,
    paused_numbers: 0,
    stopped_chat_channels: {},
    backups: 'ok',
  };
  assert.deepEqual(JSON.parse((await get('/readyz')).text), { status: 'ready', checks: wellChecks });
  await openBoth();
  const { status, text } = await get('/readyz');
  assert.equal(status, 200);
  const wave = { paused: 'float_empty', since: '2026-11-20T12:00:00.000Z', retry_at: '2026-11-20T12:00:30.000Z' };
  assert.deepEqual(JSON.parse(text), {
    status: 'ready',
    checks: { ...wellChecks, networks: { 'wave:wave-main': wave, 'wave:rail-wave': 'ok' }, paused_numbers: 1 },
  });
});

test('a closing process is not ready, and reports no failed dependency', async () => {
  const { status, text } = await get('/readyz', () => true);
  const { status: bodyStatus, checks } = JSON.parse(text) as { status: string; checks: Record<string, unknown> };
  assert.deepEqual([status, bodyStatus, checks['closing'], checks['database']], [503, 'not_ready', true, 'ok']);
});

test('metrics give open network breakers with their reason, and only count merchants’ and numbers’', async () => {
  await openBoth();
  for (let send = 0; send < 5; send += 1) await reportPayout(context, payoutBreakers(live, payout), 'unclear');
  const { text } = await get('/metrics');
  assert.match(
    text,
    /^dalasi_network_paused\{network="wave",environment="live",account="wave-main",reason="float_empty"\} 1$/m,
  );
  assert.equal(text.match(/^dalasi_network_paused\{/gm)?.length, 1);
  assert.match(text, /^dalasi_merchants_paused\{network="wave",environment="live",account="wave-main"\} 1$/m);
  assert.match(text, /^dalasi_merchants_paused\{network="wave",environment="test",account="rail-wave"\} 0$/m);
  assert.match(text, /^dalasi_numbers_paused 1$/m);
});

test('metrics show transaction ids, the oldest transaction, and dead rows of the queues', async () => {
  clock = new ManualClock(addMs(systemClock.now(), 90_000));
  const figures = async () => {
    const { text } = await get('/metrics');
    const figure = (name: string) => Number(new RegExp(`^dalasi_database_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    const used = figure('transaction_ids_used_ratio');
    return { used, oldest: figure('oldest_transaction_seconds'), dead: figure('dead_rows\\{table="outbox"\\}') };
  };
  const other = openTestDatabase(database, { connectionsMax: 1 });
  await other.withTransaction(async (tx) => {
    const text = 'SELECT xact_start AS at FROM pg_stat_activity WHERE pid = pg_backend_pid()';
    const own = await tx.row<{ at: Date }>({ name: 'test_started', text, values: [] });
    const ageMs = clock.now().getTime() - (own?.at.getTime() ?? 0);
    const { used, oldest, dead } = await figures();
    assert.deepEqual([oldest, dead], [ageMs / 1_000, 0]);
    assert.ok(used > 0 && used < 0.01, String(used));
  });
  await other.close();
  const { oldest } = await figures();
  assert.ok(oldest < 90, `${oldest}: only statements that this scrape began after the clock was set`);
});

test('metrics show how far the clock of a process is from the database’s, ahead or behind', async () => {
  const hourSeconds = 3_600;
  for (const seconds of [0, hourSeconds, -hourSeconds]) {
    clock = new ManualClock(addMs(systemClock.now(), seconds * 1_000));
    const { text } = await get('/metrics');
    const off = Number(/^dalasi_clock_off_seconds (\S+)$/m.exec(text)?.[1]);
    assert.ok(Math.abs(off - Math.abs(seconds)) < 60, `${seconds}: ${off}`);
  }
});

test('metrics show since when an account is not reconciled, and what of its float is not proved', async () => {
  const shown = async () => {
    const { text } = await get('/metrics');
    const figure = (name: string) =>
      new RegExp(`^${name}\\{account="wave-main",environment="live"\\} (\\S+)$`, 'm').exec(text);
    return [figure('dalasi_reconciled_seconds')?.[1], figure('dalasi_float_unproved_bututs')?.[1]];
  };
  assert.deepEqual(await shown(), [String(60 * 3_600), undefined], 'from when it was added');
  const reconcile = (day: string, unexplained: number) =>
    database.asOwner(
      `INSERT INTO reconciliation_days VALUES ('wave-main', $1, gen_random_uuid(), NULL, false, 'GMD', 3, 2, 0, '{}', 0, 0, 0, 0,
         0, 0, 0, $2, $3)`,
      [day, unexplained, clock.now()],
    );
  await reconcile('2026-11-18', -250);
  assert.deepEqual(await shown(), [String(36 * 3_600), '250']);
  await reconcile('2026-11-19', 0);
  assert.deepEqual(await shown(), [String(12 * 3_600), '0']);
});

test('a backup that is expected and was never made is older than any limit', async () => {
  const ages = async () =>
    [...(await get('/metrics')).text.matchAll(/^dalasi_backup_(?:drill_)?seconds (\S+)$/gm)].map(([, age]) => age);
  assert.deepEqual(await ages(), []);
  expectsBackups = true;
  assert.deepEqual(await ages(), ['+Inf', '+Inf']);
  expectsBackups = false;
});

test('reading the metrics is not counted as waiting for a database connection', async () => {
  assert.match((await get('/metrics')).text, /^dalasi_database_waiting 0$/m);
});

test('a limiter shows its permits in use, its queue and its refusals', async () => {
  const limiter = limitEachKey({ name: 'statements', each: 1 });
  const mayEnd = Promise.withResolvers<void>();
  const running = limiter.run('a', () => mayEnd.promise);
  limiter.wait('a', () => limiter.release('a'));
  await assert.rejects(
    limiter.run('a', () => mayEnd.promise),
    { code: 'unavailable' },
  );
  const metrics = createMetrics();
  metrics.watchLimiter(limiter);
  const text = await metrics.text();
  for (const figure of ['permits_in_use', 'waiting', 'refused_total']) {
    assert.match(text, new RegExp(`^dalasi_limiter_${figure}\\{limiter="statements"\\} 1$`, 'm'));
  }
  mayEnd.resolve();
  await running;
});

test('health and metrics contain no merchants and no phone numbers', async () => {
  await openBoth();
  for (const path of ['/readyz', '/metrics']) assert.doesNotMatch((await get(path)).text, /7001234|01939f00/);
});

test('an empty queue shows 0, as do delivery attempts before the first', async () => {
  const { text } = await get('/metrics');
  for (const queue of ['webhooks', 'settlement', 'network:wave:starts', 'network:wave-test:payouts']) {
    for (const name of ['due', 'oldest_due_seconds', 'waiting']) {
      assert.ok(text.includes(`\ndalasi_outbox_${name}{queue="${queue}"} 0\n`), `${name} ${queue}`);
    }
  }
  assert.match(text, /^dalasi_webhook_deliveries_pending 0$/m);
  assert.match(text, /^dalasi_webhook_attempts_total\{outcome="failed"\} 0$/m);
});

test('an open breaker of a chat channel is reported with its reason, and in the metrics', async () => {
  await new ChannelBreaker(context).trip('whatsapp', 'template', 'WhatsApp refuses the message template.');
  const { status, text } = await get('/readyz');
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text).checks.stopped_chat_channels, {
    whatsapp: {
      scope: 'template',
      reason: 'WhatsApp refuses the message template.',
      since: '2026-11-20T12:00:00.000Z',
      retry_at: '2026-11-20T12:05:00.000Z',
    },
  });
  assert.match((await get('/metrics')).text, /^dalasi_chat_channel_stopped\{channel="whatsapp",scope="template"\} 1$/m);
});

/** Applies to new connections of this database; the pool is made to open new ones. */
async function withSetting(setting: string, body: () => Promise<void>): Promise<void> {
  const name = new URL(database.adminUrl).pathname.slice(1);
  // Not in the database itself, which accepts no changes then.
  const elsewhere = changeConnectionUrl(database.adminUrl, { database: 'postgres' });
  const change = (sql: string) =>
    withAdminClient(elsewhere, async (client) => {
      await client.query(`ALTER DATABASE ${name} ${sql}`);
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    });
  await change(`SET ${setting}`);
  await untilReachable();
  await body();
  await change(`RESET ${setting.split(' ')[0]}`);
  await untilReachable();
}

/** A statement may still use a connection whose end the client has not noticed. */
async function untilReachable(): Promise<void> {
  await eventually('the database is reachable', async () => (await get('/readyz')).text.includes('"database":"ok"'));
}

for (const [what, setting, state] of [
  ['is read-only', 'default_transaction_read_only = on', 'read_only'],
  ['has no room for what is written', 'temp_file_limit = 64', 'disk_full'],
] as const) {
  test(`a database that ${what} makes a process unready, and ready again automatically`, async () => {
    const writes = createWriteProbe({ db, clock, random: systemRandom });
    const getReadiness = async () => JSON.parse((await get('/readyz', () => false, writes)).text);
    assert.equal((await getReadiness()).status, 'ready');
    await withSetting(setting, async () => {
      assert.equal((await getReadiness()).status, 'ready', 'it is not asked at each request');
      await clock.advance(5_000);
      const { status, checks } = await getReadiness();
      assert.deepEqual([status, checks.database, checks.writes], ['not_ready', 'ok', state]);
      assert.match((await get('/metrics', () => false, writes)).text, /^dalasi_database_writable 0$/m);
    });
    await clock.advance(5_000);
    assert.deepEqual((await getReadiness()).checks.writes, 'ok');
    assert.match((await get('/metrics', () => false, writes)).text, /^dalasi_database_writable 1$/m);
  });
}

test('probes leave a bounded number of rows, however many processes have run', async () => {
  for (let process = 0; process < 100; process += 1) {
    assert.equal(await createWriteProbe({ db, clock, random: systemRandom }).state(), 'ok');
  }
  const row = await db.row<{ count: bigint }>({
    name: 'test_probes',
    text: 'SELECT count(*) AS count FROM write_probes',
    values: [],
  });
  assert.ok((row?.count ?? 100n) <= 64n);
});

test('a process with wrong keys for its database is unready and says which', async () => {
  keys = { ...keys, missingSealKeys: ['0a1b2c3d'] };
  const seal = await get('/readyz');
  assert.deepEqual([seal.status, JSON.parse(seal.text).checks.seal_key], [503, 'wrong']);
  assert.match((await get('/metrics')).text, /^dalasi_key_wrong\{setting="SEAL_KEY"\} 1$/m);
  keys = { ...keys, missingSealKeys: ['0a1b2c3d'], isSealingLost: true };
  const lost = await get('/readyz');
  assert.deepEqual([lost.status, JSON.parse(lost.text).checks.seal_key], [503, 'lost']);
  keys = { ...keys, missingSealKeys: [], isSealingLost: false, pepper: 'wrong' };
  const pepper = await get('/readyz');
  assert.deepEqual([pepper.status, JSON.parse(pepper.text).checks.key_pepper], [503, 'wrong']);
  keys = { ...keys, pepper: 'unverified' };
  assert.equal((await get('/readyz')).status, 200, 'without a request nobody could verify it');
});

test('an unreleased restored copy makes a process unready, and says of when its newest change is', async () => {
  const restore = {
    ...{ id: 'r-1', backup: 'b-1', restoredAt: new Date('2026-11-20T12:00:00Z') },
    restoredTo: new Date('2026-11-20T11:00:00Z'),
  };
  const { status, text } = await get('/readyz', undefined, undefined, restore);
  assert.equal(status, 503);
  const { restored } = JSON.parse(text).checks;
  assert.deepEqual(restored, { held: true, at: '2026-11-20T12:00:00.000Z', newest_change: '2026-11-20T11:00:00.000Z' });
});

test('a node of a cluster that is down is named, and the process stays ready for the others’ merchants', async () => {
  await withAdminClient(database.adminUrl, async (client) => {
    await installStandIn(client);
    await client.query(`UPDATE pg_dist_node SET is_down = true WHERE nodename = 'worker-2'`);
    await client.query('GRANT SELECT ON pg_dist_node TO public');
  });
  const { status, text } = await get('/readyz');
  const { checks } = JSON.parse(text) as { checks: Record<string, unknown> };
  assert.deepEqual([status, checks['database_nodes_down']], [200, ['worker-2:5432']]);
  assert.match((await get('/metrics')).text, /^dalasi_database_nodes_down 1$/m);
});
