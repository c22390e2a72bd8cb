import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { createApiClient } from '../harness/api-client.ts';
import { ProcessWorld } from '../harness/process.ts';
import { processesIn, readDemo, readyAt, type Program } from '../harness/program.ts';
import { jsonOf, type CommandOutput } from '../harness/service-world.ts';
import { eventually } from '../harness/eventually.ts';

let world: ProcessWorld;
let dataDirectory: string;

before(async () => {
  world = new ProcessWorld();
  dataDirectory = await world.usedDataDirectory();
});

after(() => world.close());

const runInProcess = (...args: string[]): Promise<CommandOutput> =>
  world.runOperatorInProcess({ DATA_DIR: dataDirectory }, args);

const runProcess = (...args: string[]): Promise<CommandOutput> => world.runOperator({ DATA_DIR: dataDirectory }, args);

async function runJson<Data>(run: typeof runInProcess, ...args: string[]): Promise<Data> {
  return jsonOf<Data>(await run(...args, '--json'));
}

interface ListedMerchant {
  merchant_id: string;
  business_id: string;
  test_mode: boolean;
  name: string;
}

/** With what runs its first command. */
async function makeKey(name: string, run = runInProcess): Promise<{ id: string; key: string; merchant: string }> {
  const made = await runJson<{ business_id: string; test: { merchant_id: string; webhook_secret: string } }>(
    run,
    'businesses',
    'create',
    name,
  );
  const merchants = await runJson<ListedMerchant[]>(runInProcess, 'businesses', 'list');
  const own = merchants.filter((merchant) => merchant.business_id === made.business_id);
  assert.deepEqual(
    own.map((merchant) => [merchant.name, merchant.test_mode]).toSorted(),
    [
      [name, false],
      [name, true],
    ].toSorted(),
  );
  const merchant = made.test.merchant_id;
  const created = await runJson<{ id: string; secret_key: string }>(
    runInProcess,
    'keys',
    'create',
    '--merchant',
    merchant,
  );
  const keys = await runJson<{ id: string; last_four: string; revokedAt: string | null }[]>(
    runInProcess,
    'keys',
    'list',
    '--merchant',
    merchant,
  );
  assert.deepEqual(
    keys.map(({ id, last_four: lastFour, revokedAt }) => [id, lastFour, revokedAt]),
    [[created.id, created.secret_key.slice(-4), null]],
  );
  return { id: created.id, key: created.secret_key, merchant };
}

describe('beside a running service', () => {
  let service: Program;
  let url: string;

  before(async () => {
    service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
    url = await readyAt(service);
  });

  after(async () => {
    service.stop();
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
  });

  test('a business gets a key that works at once, and none once it is revoked', async () => {
    const { id, key, merchant } = await makeKey('Kairaba Books', runProcess);
    const api = createApiClient(url, key);
    assert.equal((await api.get('/v1/payments')).status, 200);
    await runJson(runInProcess, 'keys', 'revoke', id, '--merchant', merchant);
    await eventually('the key is refused', async () => (await api.get('/v1/payments')).status === 401);
  });

  test('a case is listed and shown', async () => {
    const api = createApiClient(url, readDemo(dataDirectory).secret_key);
    const data = { amount: 100, network: 'aps', account_number: '7000010' };
    const { status, text } = await api.post('/v1/payments', { data });
    assert.equal(status, 201, text);
    let cases: { id: string; kind: string; status: string }[] = [];
    await eventually('the case is open', async () => {
      cases = await runJson(runInProcess, 'cases', 'list');
      return cases.length > 0;
    });
    const [first] = cases;
    assert(first);
    assert.equal(first.status, 'open');
    const { resolutions, history, ...same } = await runJson<Record<string, unknown>>(
      runInProcess,
      'cases',
      'show',
      first.id,
    );
    assert.deepEqual(same, first);
    assert.deepEqual([(resolutions as unknown[]).length, history], [2, []]);
    const shown = await runInProcess('cases', 'list', '--status', 'all');
    assert.equal(shown.code, 0);
    assert(shown.stdout.includes(first.id) && shown.stdout.startsWith('CASE '));
    assert.equal((await runInProcess('cases', 'list', '--status', 'resolved')).stdout, 'No cases.\n');
  });

  test('the ledger is verified; a wrong row is named, with exit code 1', async () => {
    const right = await runJson<{ ok: boolean; movements: number }>(runInProcess, 'ledger', 'verify');
    assert(right.ok && right.movements > 0);
    const adminUrl = findRunningServer(dataDirectory) ?? '';
    const change = (amount: number) =>
      withAdminClient(adminUrl, (client) =>
        client.query(
          `UPDATE ledger_movements SET amount = amount + $1
           WHERE (merchant_id, id) = (SELECT merchant_id, id FROM ledger_movements ORDER BY id LIMIT 1)
           RETURNING merchant_id AS merchant, debit_account AS debit, credit_account AS credit`,
          [amount],
        ),
      );
    const { merchant, debit, credit } = (await change(1)).rows[0];
    const wrong = await runProcess('ledger', 'verify');
    assert.deepEqual([wrong.code, wrong.stderr], [1, '']);
    const named = new RegExp(
      `^The ledger is WRONG \\(balance\\): merchant .* \\((?:test|live)\\), ${merchant}, account (${debit}|${credit}) in GMD: `,
    );
    assert.match(wrong.stdout, named);
    const data = await runInProcess('ledger', 'verify', '--json');
    assert.equal(data.code, 1);
    const { ok, check, merchant_id: namedMerchant } = JSON.parse(data.stdout);
    assert.deepEqual([ok, check, namedMerchant], [false, 'balance', merchant]);
    await change(-1);
    assert.equal((await runInProcess('ledger', 'verify')).code, 0);
  });

  const anybody = '01890000-0000-7000-8000-000000000000';
  for (const [args, sentence] of [
    [['businesses', 'create', ' '], /^Type a name\.\n$/],
    [['businesses', 'create', 'Kairaba\nBooks'], /^A name has at most 100 characters, on one line\.\n$/],
    [['operators', 'create', 'Awa\nCeesay'], /^A name has at most 100 characters, on one line\.\n$/],
    [
      ['keys', 'list', '--merchant', anybody],
      new RegExp(`^There is no merchant ${anybody}\\. See: businesses list\\n$`),
    ],
    [['cases', 'show', 'x'], /^There is no case x\. See: cases list\n$/],
    [['cases', 'list', '--status', 'old'], /^--status is open, resolved or all, not old\.\n$/],
  ] as const) {
    test(`an invalid argument ends a command with one sentence and exit code 2: ${args.join(' ')}`, () =>
      refuses(args, sentence));
  }

  test('a busy database ends a command with one sentence and exit code 1', async () => {
    await withAdminClient(findRunningServer(dataDirectory) ?? '', async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE operators');
      const { code, stdout, stderr } = await runInProcess('operators', 'list');
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 1, stdout: '', stderr: 'Something else is changing this just now. Try again in a second.\n' },
      );
      await client.query('ROLLBACK');
    });
  });

  test('the running service stays ready and logs no error', async () => {
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal(service.stderr(), '');
  });
});

describe('without a running service', () => {
  test('a command opens the database for itself and leaves it closed', async () => {
    const { key } = await makeKey('Serekunda Fabrics');
    assert.deepEqual(processesIn(dataDirectory), []);
    assert(!existsSync(join(dataDirectory, 'dalasi.lock')));
    const service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
    const api = createApiClient(await readyAt(service), key);
    assert.equal((await api.get('/v1/payments')).status, 200, 'its key works once the service runs');
    service.stop();
    await service.ended;
  });

  test('a data directory without a database is refused, and stays as it is', async () => {
    const directory = world.newDataDirectory();
    for (const args of [
      ['ledger', 'verify'],
      ['businesses', 'create', 'First'],
    ]) {
      const { code, stdout, stderr } = await world.runOperatorInProcess({ DATA_DIR: directory }, args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^There is no database in the data directory \/[^\n]*, or DATABASE_URL to its PostgreSQL, [^\n]*\.\n$/,
      );
      assert(!existsSync(directory), 'nothing was made');
    }
  });

  test('a start that fails is one sentence and leaves nobody behind', async () => {
    const directory = await world.usedDataDirectory();
    const service = world.startServiceInProcess({ DATA_DIR: directory });
    await readyAt(service);
    await withAdminClient(findRunningServer(directory) ?? '', (client) =>
      client.query("INSERT INTO schema_migrations VALUES (9999, 'later', now())"),
    );
    service.stop();
    await service.ended;
    const { code, stdout, stderr } = await world.runOperatorInProcess({ DATA_DIR: directory }, ['businesses', 'list']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^The database is at migration 9999 and this program knows only \d+; [^\n]*\.\n$/);
    assert.deepEqual(processesIn(directory), []);
  });
});

async function refuses(args: readonly string[], sentence: RegExp, run = runInProcess): Promise<void> {
  const { code, stdout, stderr } = await run(...args);
  assert.deepEqual([code, stdout], [2, ''], stderr);
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /\n./, 'no stack');
}

describe('a mistake of the operator’s is said in a sentence, with exit code 2', () => {
  for (const [args, sentence] of [
    [['keys', 'create'], /^--merchant is missing\. Usage: npm run operator -- keys create --merchant <merchant id>/],
    [['businesses', 'create'], /^Usage: npm run operator -- businesses create <name>/],
    [['businesses', 'list', '--loud'], /^There is no option --loud\. Usage: npm run operator -- businesses list/],
  ] as const) {
    test(args.join(' '), () => refuses(args, sentence));
  }

  test('an unknown command is answered with the nearest one; --help shows all with exit code 0', async () => {
    await refuses(
      ['business', 'lst'],
      /^There is no command "business"\. Did you mean businesses list\? See: /,
      runProcess,
    );
    await refuses(['--verison'], /^There is no option --verison\. Did you mean --version\? See: /);
    assert.match((await runInProcess('--version')).stdout, /^dalasi \d+\.\d+\.\d+\n$/);
    await refuses(['cases', 'shwo'], /^Choose a command: cases list, .*\. Did you mean cases show\?$/m);
    const helped = await runInProcess('--help');
    assert.equal(helped.code, 0);
    assert.match(helped.stdout, /ledger verify/);
  });
});

test('a reader that closes the output early is no error, and ends no command before its work is done', () => {
  const program = join(import.meta.dirname, '../../server/src/operator/main.ts');
  const command = `'${process.execPath}' '${program}' --help | true; exit "\${PIPESTATUS[0]}"`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('output that a full disk does not take fails the command with a sentence', () => {
  const program = join(import.meta.dirname, '../../server/src/operator/main.ts');
  const command = `'${process.execPath}' '${program}' --help >/dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.equal(stderr, 'The output could not be written (ENOSPC); what the command does was done.\n');
});

test('demo data that a killed command has begun is not taken for a whole year', async () => {
  const directory = await world.usedDataDirectory();
  const service = world.startServiceInProcess({ DATA_DIR: directory });
  await readyAt(service);
  const fill = [process.execPath, 'server/src/operator/main.ts', 'demo', 'fill'];
  const killed = world.start(fill, { DATA_DIR: directory });
  await eventually('its business is set up', async () =>
    withAdminClient(findRunningServer(directory) ?? '', async (client) => {
      const { rows } = await client.query('SELECT id FROM sub_account_groups');
      return rows.length > 0;
    }),
  );
  killed.signal('SIGKILL');
  await killed.ended;
  const again = await world.runOperatorInProcess({ DATA_DIR: directory }, ['demo', 'fill']);
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(again.stderr, /^An earlier demo fill has not said that it ended/);
  service.stop();
  await service.ended;
});
