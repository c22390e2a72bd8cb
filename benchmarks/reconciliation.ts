import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { addMs, systemClock } from '../server/src/kit/clock.ts';
import { openDatabase } from '../server/src/kit/db.ts';
import { uuidV7 } from '../server/src/kit/ids.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { createBusiness } from '../server/src/merchants/create-business.ts';
import { flatness, sampleMemory } from './harness/memory-samples.ts';
import type { Part } from './harness/part.ts';
import { startService } from './harness/service.ts';
import { whole } from './harness/statistics.ts';

const usualLines = 100_000;
const manyLines = 1_000_000;
const merchants = 20;
const day = '2026-11-20';
const secondsMax = 30;
const memoryMaxMib = 250;
// The last third of a process may not need more than this times the memory of the first.
const growthMax = 1.15;
const batchRows = 100_000;
// Every so many lines the fee differs.
const feeDiffersEvery = 10_000;

export const reconciliation: Part = {
  name: 'reconciliation',
  title: 'Reconciling a day',
  description:
    `A statement of ${whole(usualLines)} lines against ${whole(usualLines)} payments of ${merchants} merchants, each with its ` +
    'movements, and the same with ten times as many. `operator reconcile import` and `operator reconcile run`, from the start of ' +
    'each process to its end; the memory is the highest resident memory of either process, and its growth that of the last third ' +
    'of a process against its first.',
  async run(bench) {
    const results = new Map<number, Measurement>();
    for (const lines of [usualLines, manyLines]) {
      const measured = await measure(await bench.createDatabase(), lines);
      results.set(lines, measured);
      const { importSeconds, runSeconds, peakMib, growth } = measured;
      bench.log(
        `  ${whole(lines)}: import ${importSeconds.toFixed(1)} s, run ${runSeconds.toFixed(1)} s, ${whole(peakMib)} MiB, last third ${growth.toFixed(2)} times`,
      );
    }
    const [usual, many] = [results.get(usualLines), results.get(manyLines)];
    if (!usual || !many) throw new Error('both sizes are measured');
    const seconds = usual.importSeconds + usual.runSeconds;
    return {
      figures: [
        { label: `Import of ${whole(usualLines)} lines`, value: `${usual.importSeconds.toFixed(1)} s` },
        { label: 'Reconciling them', value: `${usual.runSeconds.toFixed(1)} s` },
        {
          label: 'Both',
          value: `${seconds.toFixed(1)} s`,
          aim: { text: `under ${secondsMax} s`, isMet: seconds < secondsMax },
        },
        {
          label: 'Highest memory',
          value: `${whole(usual.peakMib)} MiB`,
          aim: { text: `at most ${memoryMaxMib} MiB`, isMet: usual.peakMib <= memoryMaxMib },
        },
        { label: `Import of ${whole(manyLines)} lines`, value: `${many.importSeconds.toFixed(1)} s` },
        { label: 'Reconciling them', value: `${many.runSeconds.toFixed(1)} s` },
        {
          label: 'Highest memory',
          value: `${whole(many.peakMib)} MiB`,
          aim: { text: `at most ${memoryMaxMib} MiB`, isMet: many.peakMib <= memoryMaxMib },
        },
        {
          label: 'Last third against the first',
          value: `${many.growth.toFixed(2)} times`,
          aim: { text: `at most ${growthMax} times`, isMet: many.growth <= growthMax },
        },
      ],
      bars: [
        {
          label: `reconciling ${whole(usualLines)} lines`,
          value: seconds,
          aim: secondsMax,
          better: 'lower',
          unit: 's',
        },
        { label: 'memory of reconciling', value: many.peakMib, aim: memoryMaxMib, better: 'lower', unit: 'MiB' },
      ],
    };
  },
};

interface Measurement {
  importSeconds: number;
  runSeconds: number;
  peakMib: number;
  growth: number;
}

async function measure(adminUrl: string, lines: number): Promise<Measurement> {
  const directory = mkdtempSync(join(tmpdir(), 'dalasi-reconciliation-'));
  try {
    // A first start writes the keys and prepares the role that the commands use.
    const service = await startService({ adminUrl, dataDirectory: directory });
    await service.stop();
    await fill(adminUrl, lines);
    const path = join(directory, 'lines.csv');
    await pipeline(Readable.from(statement(lines)), createWriteStream(path));
    const operate = (...args: string[]) => runOperator({ adminUrl, directory }, ['reconcile', ...args, '--json']);
    const imported = await operate('import', '--network', 'wave-test', '--file', path);
    if (imported.data['new'] !== lines) throw new Error(`${String(imported.data['new'])} lines were imported`);
    const run = await operate('run', '--network', 'wave-test', '--day', day);
    const { matched, unexplained, differences } = run.data;
    const fees = lines / feeDiffersEvery;
    const isRight = matched === lines - fees && unexplained === 0 && JSON.stringify(differences) === `{"fee":${fees}}`;
    if (!isRight) throw new Error(`${String(matched)} records agree, ${JSON.stringify(run.data)}`);
    return {
      importSeconds: imported.seconds,
      runSeconds: run.seconds,
      peakMib: Math.max(imported.peakMib, run.peakMib),
      growth: Math.max(imported.growth, run.growth),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A command in its own process. */
async function runOperator(
  { adminUrl, directory }: { adminUrl: string; directory: string },
  args: readonly string[],
): Promise<Omit<Measurement, 'importSeconds' | 'runSeconds'> & { seconds: number; data: Record<string, unknown> }> {
  const program = join(import.meta.dirname, '../server/src/operator/main.ts');
  const beganAt = performance.now();
  // As `npm run operator` starts it.
  const flags = ['--max-semi-space-size=4', '--max-old-space-size=1024'];
  const child = spawn(process.execPath, [...flags, program, ...args], {
    env: { PATH: process.env['PATH'], APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  // Read and dropped: the progress.
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.splice(0, errors.length, chunk.toString('utf8')));
  const sampling = sampleMemory(child.pid ?? 0);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  const exitCode = await ended;
  const seconds = (performance.now() - beganAt) / 1_000;
  const samplesMib = (await sampling.stop()).filter((mib) => !Number.isNaN(mib));
  if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode ?? 'a signal'}: ${errors.join('')}`);
  const data = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  return { seconds, peakMib: Math.max(...samplesMib), growth: flatness(samplesMib).ratio, data };
}

const grossMinor = 45_000;
const feeMinor = 450;
const stepMs = (lines: number): number => Math.floor(86_000_000 / lines);

/** The statement as a network writes it, with running balances. */
function* statement(lines: number): Generator<string> {
  yield 'transaction_id,timestamp,transaction_type,amount,fee,currency,client_reference,counterparty_mobile,balance\n';
  let balanceMinor = 0n;
  for (let n = 1; n <= lines; n += 1) {
    const fee = n % feeDiffersEvery === 0 ? feeMinor + 1 : feeMinor;
    const net = grossMinor - fee;
    balanceMinor += BigInt(net);
    const at = addMs(new Date(`${day}T00:00:00Z`), n * stepMs(lines)).toISOString();
    const balance = `${balanceMinor / 100n}.${String(balanceMinor % 100n).padStart(2, '0')}`;
    yield `${transactionOf(n)},${at},api_checkout,${(net / 100).toFixed(2)},${(fee / 100).toFixed(2)},GMD,,+2207000001,${balance}\n`;
  }
}

function transactionOf(n: number): string {
  return `T${createHash('md5').update(`x${n}`).digest('hex')}`;
}

/** Paid payments of that day, as the service writes them. */
async function fill(adminUrl: string, payments: number): Promise<void> {
  const db = openDatabase({ url: adminUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  const context = { clock: systemClock, random: systemRandom, newId: () => uuidV7(systemClock, systemRandom) };
  const ids: string[] = [];
  for (let count = 0; count < merchants; count += 1) {
    const business = await db.withTransaction((tx) => createBusiness(tx, context, { name: `Shop ${count}` }));
    ids.push(business.test.id);
  }
  await db.close();
  await withAdminClient(adminUrl, async (client) => {
    for (let firstRow = 1; firstRow <= payments; firstRow += batchRows) {
      const last = Math.min(payments, firstRow + batchRows - 1);
      for (const text of [insertIntents, insertCharges, insertTransactions, insertMovements]) {
        await client.query(text, [ids, firstRow, last, Date.parse(`${day}T00:00:00Z`), stepMs(payments)]);
      }
    }
    await client.query(insertFloats);
    for (const table of ['payment_intents', 'charges', 'provider_transactions', 'ledger_movements']) {
      await client.query(`VACUUM ANALYZE ${table}`);
    }
  });
}

const merchantId = '($1::uuid[])[1 + n % cardinality($1::uuid[])]';
const timeMs = '($4::bigint + n::bigint * $5::bigint)';
const createdAt = `to_timestamp(${timeMs} / 1000.0)`;
/** A UUID of version 7. */
const idOf = (kind: 'a' | 'b' | 'c' | 'd') =>
  `(lpad(to_hex(${timeMs}), 12, '0') || '7${kind}00b' || substr(md5(n::text), 1, 15))::uuid`;
const rows = 'generate_series($2::int, $3::int) AS n';

const insertIntents = `
  INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token,
    metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at)
  SELECT ${merchantId}, ${idOf('a')}, 'successful', ${grossMinor}, 0, 'business', 'GMD', md5('s' || n) || md5('t' || n),
    md5('c' || n), '{}', 'api', 1, false, 1, ${createdAt}, ${createdAt}, ${createdAt}
  FROM ${rows}`;

const insertCharges = `
  INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid, currency, network,
    account_number, account_canonical, reference, transaction_reference, progress, late, amount_refunded, event_sequence,
    network_transaction_id, paid_at, created_at, updated_at, rail_account)
  SELECT ${merchantId}, ${idOf('b')}, ${idOf('a')}, 1, 'completed', ${grossMinor}, 0, 'business', ${grossMinor}, 'GMD', 'wave', '7000001',
    '+2207000001', md5('r' || n), 'TX-' || n, 'final', false, 0, 2, 'T' || md5('x' || n), ${createdAt}, ${createdAt}, ${createdAt},
    'wave-test'
  FROM ${rows}`;

const insertTransactions = `
  INSERT INTO provider_transactions (rail_account, transaction_id, kind, merchant_id, subject_id, created_at)
  SELECT 'wave-test', 'T' || md5('x' || n), 'collection', ${merchantId}, ${idOf('b')}, ${createdAt} FROM ${rows}`;

const insertMovements = `
  INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow, source_type, source_id,
    created_at)
  SELECT ${merchantId}, ${idOf('c')}, 'float:wave-test', 'payable_available', ${grossMinor}, 'GMD', 'collected', 'charge',
    ${idOf('b')}, ${createdAt} FROM ${rows}
  UNION ALL
  SELECT ${merchantId}, ${idOf('d')}, 'network_costs', 'float:wave-test', ${feeMinor}, 'GMD', 'collected', 'charge', ${idOf('b')},
    ${createdAt} FROM ${rows}`;

const insertFloats = `
  INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance)
  SELECT merchant_id, 'float:wave-test', 'GMD', 'float',
    sum(CASE WHEN debit_account = 'float:wave-test' THEN amount ELSE -amount END)
  FROM ledger_movements WHERE 'float:wave-test' IN (debit_account, credit_account) GROUP BY merchant_id`;
