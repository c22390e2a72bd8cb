import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { createApiClient, createCharge } from '../harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { createVisitor } from '../harness/console-world.ts';
import { elapse } from '../harness/elapse.ts';
import { eventually } from '../harness/eventually.ts';
import { FragileService } from '../harness/fragile-service.ts';
import { ProcessWorld, type TestProcess } from '../harness/process.ts';
import { readyAt } from '../harness/program.ts';
import { freePort } from '../harness/free-port.ts';
import { startPrometheus, type Alert, type Prometheus } from '../harness/prometheus.ts';

// A real Prometheus evaluates examples/prometheus/alerts.yml over an API process and a worker, while their parts fail.

const minuteMs = 60_000;
const quietMs = 15 * minuteMs;
/** From the fault to its alert, whatever the rule waits for. */
const alertMaxMs = 2 * minuteMs;
// An increase counts for ten minutes.
const endMaxMs = 15 * minuteMs;
const lookEveryMs = 1_000;
/** A longer interval than this cannot be missed twice within two minutes. */
const shortIntervalMaxSeconds = 15;

interface Fault {
  name: string;
  /** The alert that says what is wrong, and the label that says where. */
  alert: string;
  label?: readonly [string, string];
  /** Returns what mends it. */
  inject(): Promise<() => Promise<unknown>>;
}

let world: ProcessWorld;
let receiver: CallbackReceiver;
let fragile: FragileService;
let worker: TestProcess;
let prometheus: Prometheus;
let apiPort: string;
let workerSettings: Record<string, string>;
/** The API process that runs now. */
let api: TestProcess;
/** The role that serves requests, of which faults take privileges. */
let role: string;
let monitoringKeyId: string;

before(async () => {
  world = new ProcessWorld();
  receiver = await startCallbackReceiver();
  apiPort = String(await freePort());
  const publicUrl = `http://127.0.0.1:${apiPort}`;
  fragile = await FragileService.start(world, {
    settings: { ROLE: 'api', PORT: apiPort, PUBLIC_URL: publicUrl, DEMO_WEBHOOK_URL: `${receiver.url}/events` },
  });
  api = fragile.service;
  const made = await createMonitoringKey();
  monitoringKeyId = made.id;
  workerSettings = {
    ...{ ROLE: 'worker', INTERNAL_URL: publicUrl, PUBLIC_URL: publicUrl },
    ...{ PORT: String(await freePort()), SYNTHETIC_PAYMENT_KEY: made.key },
  };
  worker = await fragile.startAnother(workerSettings);
  await createCharge(fragile.api());
  await eventually('it is booked', async () => (await fragile.rows('SELECT 1 FROM ledger_deltas')).length > 0);
  const [serving] = await fragile.rows<{ role: string }>(
    `SELECT usename AS role FROM pg_stat_activity WHERE application_name = 'dalasi' LIMIT 1`,
  );
  role = serving?.role ?? assert.fail('a process is connected');
  prometheus = await startPrometheus([publicUrl, await readyAt(worker)]);
});

after(async () => {
  await prometheus?.stop();
  await world.close();
  await fragile?.stop();
  await receiver.close();
});

async function createMonitoringKey(): Promise<{ id: string; key: string }> {
  const created = await fragile.operate(['businesses', 'create', 'Monitoring', '--json']);
  const { test: merchant } = JSON.parse(created.stdout) as { test: { merchant_id: string } };
  const made = await fragile.operate(['keys', 'create', '--merchant', merchant.merchant_id, '--json']);
  const { id, secret_key: key } = JSON.parse(made.stdout) as { id: string; secret_key: string };
  return { id, key };
}

/** Of services that just started: the ledger and the chains are looked at within minutes. */
const untilQuiet = (): Promise<void> =>
  eventually('no alert fires', async () => (await prometheus.firing()).length === 0, endMaxMs);

test('a quarter of an hour in which nothing fails raises no alert', async () => {
  await elapse(minuteMs / 2); // the first scrape and evaluation
  const until = performance.now() + quietMs;
  while (performance.now() < until) {
    assert.deepEqual(await prometheus.firing(), []);
    await elapse(lookEveryMs);
  }
});

const isAlertOf =
  ({ alert, label }: Pick<Fault, 'alert' | 'label'>) =>
  ({ name, labels }: Alert): boolean =>
    name === alert && (label === undefined || labels[label[0]] === label[1]);

/** Unlike `eventually` it looks each second: the time is measured. */
async function firesWithin(ms: number, condition: (firing: readonly Alert[]) => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!condition(await prometheus.firing())) {
    if (performance.now() > until) return false;
    await elapse(lookEveryMs);
  }
  return true;
}

/** Injects faults that do not hide one another, and returns how many seconds each took to raise its alert. */
async function raise(faults: readonly Fault[]): Promise<Map<string, number>> {
  const before = await prometheus.firing();
  for (const fault of faults) assert.ok(!before.some(isAlertOf(fault)), `${fault.alert} fires before ${fault.name}`);
  const seconds = new Map<string, number>();
  const mend: (() => Promise<unknown>)[] = [];
  const ended = await Promise.allSettled(
    faults.map(async (fault) => {
      mend.push(await fault.inject());
      const injectedMs = performance.now();
      const isRaised = await firesWithin(alertMaxMs, (firing) => firing.some(isAlertOf(fault)));
      seconds.set(fault.name, isRaised ? (performance.now() - injectedMs) / 1_000 : Infinity);
    }),
  );
  for (const each of mend.toReversed()) await each();
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  return seconds;
}

const change = (text: string, undo: string) => async (): Promise<() => Promise<unknown>> => {
  await fragile.rows(text);
  return () => fragile.rows(undo);
};

const flipSecret = `UPDATE webhook_endpoints SET secret = set_byte(secret, length(secret) - 1, get_byte(secret, length(secret) - 1) # 1)`;
const addDrill = (problem: string): string =>
  `INSERT INTO backup_runs (id, kind, backup, finished_at, seconds, problem)
   VALUES (gen_random_uuid(), 'drill', 'a backup', clock_timestamp(), 1, ${problem})`;

// None of these hides another.
const faultsTogether: Fault[] = [
  {
    name: 'a column is missing, and one request is answered 500',
    alert: 'DalasiServerErrors',
    inject: async () => {
      await fragile.rows('ALTER TABLE customers RENAME COLUMN metadata TO gone');
      const { status } = await fragile.api().get('/v1/customers');
      const mend = () => fragile.rows('ALTER TABLE customers RENAME COLUMN gone TO metadata');
      if (status !== 500) await mend();
      assert.equal(status, 500);
      return mend;
    },
  },
  {
    name: 'the key of the synthetic payments is revoked',
    alert: 'DalasiSyntheticPaymentFails',
    inject: () =>
      change(
        `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = '${monitoringKeyId}'`,
        `UPDATE api_keys SET revoked_at = NULL WHERE id = '${monitoringKeyId}'`,
      )(),
  },
  {
    name: 'a case is opened',
    alert: 'DalasiCaseOpen',
    label: ['kind', 'amount_mismatch'],
    inject: async () => {
      await createCharge(fragile.api());
      return await change(
        `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency, summary, created_at)
         SELECT merchant_id, gen_random_uuid(), 'amount_mismatch', 'open', 'charge', id, 'x', 10100, 'GMD', '', now()
         FROM charges LIMIT 1`,
        `UPDATE cases SET status = 'resolved', resolved_at = now()`,
      )();
    },
  },
  {
    name: 'a stored secret is damaged',
    alert: 'DalasiSealedValuesUnreadable',
    label: ['reason', 'damaged'],
    inject: async () => {
      await fragile.rows(flipSecret);
      await createCharge(fragile.api());
      return () => fragile.rows(flipSecret);
    },
  },
  {
    name: 'passwords are tried',
    alert: 'DalasiPasswordsGuessed',
    inject: async () => {
      const visitor = createVisitor(fragile.url, '');
      const login = { email: 'guessed@example.gm', password: 'not the right one' };
      for (let tries = 0; tries < 120; tries += 1) await visitor.submit('/dashboard/sign-in', login);
      return () => Promise.resolve();
    },
  },
  { name: 'a transaction holds a due task', alert: 'DalasiQueueLate', inject: holdTask },
  {
    name: 'a backup cannot be restored',
    alert: 'DalasiBackupDrillFailed',
    inject: () => change(addDrill(`'it is damaged'`), addDrill('NULL'))(),
  },
  {
    name: 'a balance is changed, and the ledger verified',
    alert: 'DalasiLedgerWrong',
    inject: async () => {
      const add = (amount: number): Promise<unknown> =>
        fragile.rows(
          `UPDATE ledger_deltas SET amount = amount + ${amount}
           WHERE id = (SELECT id FROM ledger_deltas WHERE account LIKE 'float:%' ORDER BY id LIMIT 1)`,
        );
      const verify = () => fragile.operate(['ledger', 'verify']);
      await add(1);
      assert.notEqual((await verify()).code, 0);
      return async () => {
        await add(-1);
        assert.equal((await verify()).code, 0);
      };
    },
  },
];

/** Of a payment that its payer never approves. */
async function holdTask(): Promise<() => Promise<unknown>> {
  const id = await createCharge(fragile.api(), '7000004');
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const where = `subject_id = (SELECT id FROM charges WHERE intent_id = '${id}')`;
  const holding = withAdminClient(fragile.adminUrl, async (client) => {
    await eventually('its task waits, and is held', async () => {
      await client.query(`UPDATE outbox SET due_at = clock_timestamp() + interval '2 s' WHERE ${where}`);
      await client.query('BEGIN');
      const { rowCount } = await client.query(
        `SELECT 1 FROM outbox WHERE ${where} AND due_at <= clock_timestamp() + interval '2 s' FOR UPDATE`,
      );
      if (rowCount === 0) await client.query('ROLLBACK');
      return rowCount !== 0;
    });
    locked.resolve();
    await held.promise;
    await client.query('ROLLBACK');
  });
  await Promise.race([locked.promise, holding]);
  return () => {
    held.resolve();
    return holding;
  };
}

const endConnections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'dalasi%' AND pid <> pg_backend_pid()`;
const isServed = (): Promise<void> =>
  eventually('a payment can be made', () =>
    createApiClient(fragile.url, fragile.key)
      .post('/v1/payments', { data: { amount: 100 } })
      .then(
        ({ status }) => status === 201,
        () => false,
      ),
  );

const faultsOfQueueAndProcess: Fault[] = [
  {
    name: 'the loop of a queue fails',
    alert: 'DalasiSilent',
    label: ['queue', 'webhook deliveries'],
    inject: () =>
      change(`REVOKE SELECT ON webhook_deliveries FROM ${role}`, `GRANT SELECT ON webhook_deliveries TO ${role}`)(),
  },
  {
    name: 'a chore fails',
    alert: 'DalasiSilent',
    label: ['queue', 'folding balances'],
    inject: () => change(`REVOKE SELECT ON ledger_deltas FROM ${role}`, `GRANT SELECT ON ledger_deltas TO ${role}`)(),
  },
  {
    name: 'a process hangs',
    alert: 'DalasiDown',
    inject: () => {
      api.signal('SIGSTOP');
      return Promise.resolve(() => Promise.resolve(api.signal('SIGCONT')));
    },
  },
];

const faultsOfWritesAndWorker: Fault[] = [
  {
    name: 'the database is read-only',
    alert: 'DalasiDatabaseNotWritable',
    inject: async () => {
      await fragile.rows(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
      await fragile.rows(endConnections);
      return async () => {
        await fragile.rows(`ALTER ROLE ${role} RESET default_transaction_read_only`);
        await fragile.rows(endConnections);
        await isServed();
      };
    },
  },
  {
    name: 'the worker is killed',
    alert: 'DalasiNoWorker',
    inject: async () => {
      worker.signal('SIGKILL');
      await worker.ended;
      return async () => {
        worker = await fragile.startAnother(workerSettings);
      };
    },
  },
];

const databaseIsSilent: Fault = {
  name: 'the database is silent',
  alert: 'DalasiDatabaseNotWritable',
  inject: () => {
    fragile.link.set({ isSilent: true });
    return Promise.resolve(() => {
      fragile.link.set({});
      return isServed();
    });
  },
};

const databaseIsKilled: Fault = {
  name: 'the database is killed',
  alert: 'DalasiDatabaseNotWritable',
  inject: async () => {
    await fragile.killDatabase();
    return async () => {
      await fragile.startDatabase();
      await isServed();
    };
  },
};

const processIsKilled: Fault = {
  name: 'a process is killed',
  alert: 'DalasiDown',
  inject: async () => {
    api.signal('SIGKILL');
    await api.ended;
    return async () => {
      api = await fragile.startAnother({});
    };
  },
};

test('each of sixteen faults raises its alert within two minutes, and all end when they are mended', async (context) => {
  const seconds = new Map<string, number>();
  for (const faults of [
    faultsTogether,
    faultsOfQueueAndProcess,
    faultsOfWritesAndWorker,
    [databaseIsSilent],
    [databaseIsKilled],
    [processIsKilled],
  ]) {
    const stillFiring = async (): Promise<boolean> => {
      const firing = await prometheus.firing();
      return faults.some((fault) => firing.some(isAlertOf(fault)));
    };
    await eventually('what fired before has ended', async () => !(await stillFiring()), endMaxMs);
    for (const [name, each] of await raise(faults)) {
      seconds.set(name, each);
      context.diagnostic(`${name}: ${each.toFixed(0)} s`);
    }
  }
  assert.equal(seconds.size, 16);
  const late = [...seconds].filter(([, each]) => each > alertMaxMs / 1_000).map(([name]) => name);
  assert.deepEqual(late, []);
  await untilQuiet();
});

test('when all work fails, each queue and chore of a short interval raises an alert within two minutes', async () => {
  const text = await (await fetch(`${await readyAt(worker)}/metrics`)).text();
  const queues = [...text.matchAll(/^dalasi_heartbeat_interval_seconds\{queue="([^"]*)"\} (\S+)$/gm)]
    .filter(([, , seconds]) => Number(seconds) <= shortIntervalMaxSeconds)
    .map(([, queue = '']) => queue);
  assert.ok(queues.length > 5, String(queues.length));
  const silent = new Set<string>();
  await fragile.killDatabase();
  await firesWithin(alertMaxMs, (firing) => {
    for (const { name, labels } of firing) if (name === 'DalasiSilent') silent.add(labels['queue'] ?? '');
    return queues.every((queue) => silent.has(queue));
  });
  await fragile.startDatabase();
  assert.deepEqual(
    queues.filter((queue) => !silent.has(queue)),
    [],
  );
});
