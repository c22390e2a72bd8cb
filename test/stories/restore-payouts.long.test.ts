import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { findRunningServer } from '../../server/src/database/embedded/running-server.ts';
import { createApiClient } from '../harness/api-client.ts';
import { elapse } from '../harness/elapse.ts';
import { eventually } from '../harness/eventually.ts';
import { ProcessWorld } from '../harness/process.ts';
import { readDemo, readyAt } from '../harness/program.ts';

// A backup is restored to random seconds of a minute in which payouts were sent. The networks know what happened since: it
// is sent by no copy again, and the list of differences has exactly that.

const restores = 5;
const secondsOfLoad = 60;
const pauseMs = 150;
// A payout that its network does not know is sent again only when the earlier request cannot arrive any more.
const settlesWithinMs = 10 * 60 * 1_000;

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});
after(() => world.close());

const query = async <Row>(dataDirectory: string, text: string, values: unknown[] = []): Promise<Row[]> =>
  withAdminClient(
    findRunningServer(dataDirectory) ?? '',
    async (client) => (await client.query(text, values)).rows as Row[],
  );

/** The JSON output of an operator's command, which tells its progress on stderr. */
async function operate<Data>(settings: Record<string, string>, ...args: string[]): Promise<Data> {
  const { code, stdout, stderr } = await world.runOperatorInProcess(settings, [...args, '--json']);
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout) as Data;
}

const books = ['sessions', 'payouts', 'payout_outages', 'floats', 'gsma_requests'] as const;

/** All that the networks know: they are other companies, whom a restore does not take back in time. */
type Books = Record<(typeof books)[number], unknown>;

async function readBooks(dataDirectory: string): Promise<Books> {
  const entries = books.map(async (table) => {
    const [row] = await query<{ rows: unknown }>(
      dataDirectory,
      `SELECT json_agg(t) AS rows FROM simulator.${table} AS t`,
    );
    return [table, row?.rows ?? []];
  });
  return Object.fromEntries(await Promise.all(entries)) as Books;
}

async function writeBooks(dataDirectory: string, known: Books): Promise<void> {
  for (const table of books) {
    await query(dataDirectory, `DELETE FROM simulator.${table}`);
    const text = `INSERT INTO simulator.${table} SELECT * FROM json_populate_recordset(NULL::simulator.${table}, $1::json)`;
    await query(dataDirectory, text, [JSON.stringify(known[table])]);
  }
}

interface PaidOut {
  reference: string;
  transactionId: string;
  time: Date;
  amount: string;
}

/** The lines of a statement of payouts, each as the network carried it out. */
function listPaidOut(dataDirectory: string): Promise<PaidOut[]> {
  return query<PaidOut>(
    dataDirectory,
    `SELECT reference, transaction_id AS "transactionId", created_at AS time, (amount / 100.0)::text AS amount
     FROM simulator.payouts WHERE COALESCE(planned_status, status) = 'completed' ORDER BY created_at`,
  );
}

/** Payments, then payouts without a pause, some of which end later or without an answer; a backup is made before them. */
async function payOutFor(seconds: number) {
  const dataDirectory = await world.usedDataDirectory();
  const backups = join(dirname(dataDirectory), 'backups');
  // Started by root, the server runs as another user, who has to get there.
  chmodSync(dirname(dataDirectory), 0o711);
  const settings = { DATA_DIR: dataDirectory, BACKUP_DIR: backups, RATE_LIMIT_TEST: '0' };
  const service = world.startServiceInProcess(settings);
  const api = createApiClient(await readyAt(service), readDemo(dataDirectory).secret_key);
  const charge = { data: { amount: 5_000, network: 'aps', account_number: '7000001' } };
  const paid = await api.post('/v1/payments', charge);
  assert.equal(paid.status, 201, paid.text);
  const isBooked = async (): Promise<boolean> => {
    const { body } = await api.get(`/v1/payments/${String(paid.body['payment_intent_id'])}`);
    return body['status'] === 'successful';
  };
  await eventually('there is money to pay out', isBooked);
  await operate(settings, 'backup', 'create');
  const began = Date.now();
  for (let count = 0; Date.now() < began + seconds * 1_000; count += 1) {
    // At once, after two seconds, after a call without an answer.
    const number = ['7000001', '7000009', '7000005'][count % 3];
    const body = { amount: 1, network: 'aps', account_number: number, beneficiary_name: 'Awa Ceesay' };
    const { status, text } = await api.post('/v1/transfers', body, { 'idempotency-key': randomUUID() });
    assert.equal(status, 201, text);
    await elapse(pauseMs);
  }
  const ended = Date.now();
  await untilNoneIsPending(dataDirectory);
  const [segment] = await query<{ name: string }>(dataDirectory, 'SELECT pg_walfile_name(pg_switch_wal()) AS name');
  await eventually('the log is archived', () => existsSync(join(backups, 'wal', `${segment?.name}.gz`)));
  const [known, paidOut] = [await readBooks(dataDirectory), await listPaidOut(dataDirectory)];
  service.stop();
  assert.equal((await service.ended).code, 0, service.stderr());
  return { dataDirectory, backups, began, ended, known, paidOut };
}

async function untilNoneIsPending(dataDirectory: string): Promise<void> {
  const text = `SELECT id FROM transfers WHERE status = 'pending'`;
  await eventually('every payout ended', async () => (await query(dataDirectory, text)).length === 0, settlesWithinMs);
}

/** Returns the references of the lines that the copy knows nothing of. */
async function listUnknown(settings: Record<string, string>, paidOut: readonly PaidOut[]): Promise<string[]> {
  const lines = paidOut.map(
    ({ reference, transactionId, time, amount }) =>
      `${transactionId},${time.toISOString()},payout,-${amount},0,${reference}`,
  );
  const path = join(dirname(settings['DATA_DIR'] ?? ''), `statement-${randomUUID()}.csv`);
  writeFileSync(path, ['transaction_id,timestamp,type,amount,fee,client_reference', ...lines].join('\n'));
  const { refused } = await operate<{ refused: number }>(
    settings,
    ...['reconcile', 'import', '--network', 'aps', '--file', path],
  );
  assert.equal(refused, 0, 'every line is read');
  const day = new Date().toISOString().slice(0, 10);
  // Its exit code says whether the float is proved, for which a statement without balances is not enough.
  await world.runOperatorInProcess(settings, ['reconcile', 'run', '--network', 'aps', '--day', day]);
  const command = ['reconcile', 'day', day, '--network', 'aps', '--csv'];
  const shown = await world.runOperatorInProcess(settings, command);
  assert.equal(shown.code, 0, shown.stderr);
  const byTransaction = new Map(paidOut.map(({ transactionId, reference }) => [transactionId, reference]));
  return shown.stdout
    .split(/\r?\n/)
    .filter((line) => line.includes(',unknown,'))
    .map((line) => byTransaction.get(line.split(',').find((cell) => byTransaction.has(cell)) ?? '') ?? line)
    .toSorted();
}

test(`${restores} copies of random seconds send no payout again, and list exactly what was paid since`, async (context) => {
  const original = await payOutFor(secondsOfLoad);
  const references = original.paidOut.map(({ reference }) => reference);
  for (let restore = 0; restore < restores; restore += 1) {
    const time = new Date(randomInt(original.began, original.ended)).toISOString();
    const directory = join(dirname(world.newDataDirectory()), 'copy');
    chmodSync(dirname(directory), 0o711);
    const settings = { DATA_DIR: directory, BACKUP_DIR: original.backups };
    await operate(settings, 'backup', 'restore', '--to', directory, '--at', time);
    const secrets = readFileSync(join(original.dataDirectory, 'secrets.json'));
    writeFileSync(join(directory, 'secrets.json'), secrets, { mode: 0o600 });
    const own = { ...settings, BACKUP_DIR: join(dirname(directory), 'backups') };
    const copy = world.startServiceInProcess({ ...own, LOG_LEVEL: 'error' });
    await readyAt(copy);
    await writeBooks(directory, original.known);
    const pending = await query(directory, `SELECT id FROM transfers WHERE status = 'pending'`);
    await operate(own, 'restore', 'release');
    await untilNoneIsPending(directory);
    const ours = await query<{ reference: string; status: string }>(
      directory,
      'SELECT reference, status FROM transfers',
    );
    const unknown = await listUnknown(own, original.paidOut);
    context.diagnostic(
      `restored to ${time}: ${ours.length} payouts, ${pending.length} of them under way, ${unknown.length} paid since`,
    );
    const paidAgain = (await listPaidOut(directory)).map(({ reference }) => reference);
    assert.deepEqual(paidAgain, references, 'the network was asked for no payout that it had not made');
    const known = new Set(ours.map(({ reference }) => reference));
    assert.deepEqual(
      ours.filter(({ status }) => status !== 'completed'),
      [],
    );
    assert.deepEqual(unknown, references.filter((reference) => !known.has(reference)).toSorted());
    assert.equal((await operate<{ ok: boolean }>(own, 'ledger', 'verify')).ok, true);
    copy.stop();
    assert.equal((await copy.ended).code, 0, copy.stderr());
  }
});
