import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { openDatabase } from '../server/src/kit/db.ts';
import { uuidV7 } from '../server/src/kit/ids.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { verifyLedger } from '../server/src/ledger/verify.ts';
import { createBusiness } from '../server/src/merchants/create-business.ts';
import type { Part } from './harness/part.ts';
import { startService } from './harness/service.ts';
import { whole } from './harness/statistics.ts';

const subAccounts = 100_000;
const secondsMax = 120;
// Far enough into the run to leave work undone.
const interruptAfterMs = 5_000;
const batchRows = 20_000;

export const settlement: Part = {
  name: 'settlement',
  title: 'Paying out sub-accounts',
  description:
    `One merchant with ${whole(subAccounts)} sub-accounts, each with a balance of two movements that are not folded. ` +
    '`npm run operator -- settlement run` orders a payout of every one, is interrupted after some seconds and run again. ' +
    'The time is that of both runs, from the start of the process to its end.',
  async run(bench) {
    const adminUrl = await bench.createDatabase();
    const dataDirectory = mkdtempSync(join(tmpdir(), 'dalasi-settlement-'));
    try {
      // A first start writes the keys and prepares the role that the command uses.
      const service = await startService({ adminUrl, dataDirectory });
      await service.stop();
      const merchantId = await fillSubAccounts(adminUrl);
      const settle = (interruptsAfterMs: number | null): Promise<Run> =>
        runSettlement({ adminUrl, dataDirectory, merchantId, interruptsAfterMs });
      const first = await settle(interruptAfterMs);
      const before = await countPayouts(adminUrl);
      const second = await settle(null);
      const ordered = await countPayouts(adminUrl);
      const seconds = first.seconds + second.seconds;
      bench.log(`  ${seconds.toFixed(1)} s, of ${whole(ordered.payouts)} ${whole(before.payouts)} in the first run`);
      await verify(adminUrl, ordered);
      return {
        figures: [
          {
            label: `${whole(subAccounts)} sub-accounts`,
            value: `${seconds.toFixed(1)} s`,
            aim: { text: `under ${secondsMax} s`, isMet: seconds < secondsMax },
          },
          { label: 'Payouts a second', value: whole(ordered.payouts / seconds) },
          { label: 'Ordered before the interruption', value: whole(before.payouts) },
          {
            label: 'Sub-accounts paid other than once',
            value: whole(subAccounts - ordered.once),
            aim: { text: '0', isMet: ordered.once === subAccounts },
          },
        ],
        bars: [
          { label: 'paying out 100,000 sub-accounts', value: seconds, aim: secondsMax, better: 'lower', unit: 's' },
        ],
      };
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  },
};

interface Run {
  seconds: number;
}

/** The operator's command in its own process. */
async function runSettlement(options: {
  adminUrl: string;
  dataDirectory: string;
  merchantId: string;
  interruptsAfterMs: number | null;
}): Promise<Run> {
  const { adminUrl, dataDirectory, merchantId, interruptsAfterMs } = options;
  const program = join(import.meta.dirname, '../server/src/operator/main.ts');
  const beganAt = performance.now();
  const child = spawn(process.execPath, [program, 'settlement', 'run', '--merchant', merchantId], {
    env: { PATH: process.env['PATH'], APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: dataDirectory },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  if (interruptsAfterMs !== null) void systemClock.sleep(interruptsAfterMs).then(() => child.kill('SIGINT'));
  const exitCode = await ended;
  const isExpected = interruptsAfterMs === null ? exitCode === 0 : exitCode === 1;
  if (!isExpected) throw new Error(`the settlement ended with ${exitCode ?? 'a signal'}`);
  return { seconds: (performance.now() - beganAt) / 1_000 };
}

/** A merchant whose sub-accounts have 15 dalasi each, in two shares. */
async function fillSubAccounts(adminUrl: string): Promise<string> {
  const db = openDatabase({ url: adminUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  const context = { clock: systemClock, random: systemRandom, newId: () => uuidV7(systemClock, systemRandom) };
  const business = await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Market' }));
  await db.close();
  const merchantId = business.test.id;
  await withAdminClient(adminUrl, async (client) => {
    for (let firstRow = 1; firstRow <= subAccounts; firstRow += batchRows) {
      const values = [merchantId, firstRow, Math.min(subAccounts, firstRow + batchRows - 1)];
      for (const text of [insertSubAccounts, insertMovements, insertDeltas]) await client.query(text, values);
    }
    await client.query(insertFloat, [merchantId, BigInt(subAccounts) * 1_500n]);
    for (const table of ['sub_accounts', 'ledger_movements', 'ledger_deltas'])
      await client.query(`VACUUM ANALYZE ${table}`);
  });
  return merchantId;
}

const subAccountId = `('00000001-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`;
const shareId = (group: string) => `('${group}-0000-7000-8000-' || lpad((2 * n + share)::text, 12, '0'))::uuid`;
const shares = 'generate_series($2::int, $3::int) AS n, (VALUES (0, 1000), (1, 500)) AS shares (share, minor)';

const insertSubAccounts = `
  INSERT INTO sub_accounts (merchant_id, id, name, percent_hundredths, settlement_code, account_number, account_canonical,
    active, created_at, updated_at)
  SELECT $1::uuid, ${subAccountId}, 'Stall ' || n, 1000, (ARRAY['wave', 'afrimoney', 'qmoney', 'aps'])[1 + n % 4],
    '7' || lpad((n % 1000000)::text, 6, '0'), '+2208777' || lpad((n % 1000000)::text, 6, '0'), true, to_timestamp(0),
    to_timestamp(0)
  FROM generate_series($2::int, $3::int) AS n`;

const insertMovements = `
  INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow, source_type,
    source_id, created_at)
  SELECT $1::uuid, ${shareId('00000002')}, 'float:wave-test', 'sub:' || ${subAccountId}, minor, 'GMD', 'collected', 'charge',
    ${shareId('00000003')}, to_timestamp(0)
  FROM ${shares}`;

const insertDeltas = `
  INSERT INTO ledger_deltas (merchant_id, account, currency, id, amount)
  SELECT $1::uuid, 'sub:' || ${subAccountId}, 'GMD', ${shareId('00000002')}, minor FROM ${shares}`;

const insertFloat = `
  INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance)
  VALUES ($1::uuid, 'float:wave-test', 'GMD', 'float', $2)`;

interface Ordered {
  payouts: number;
  /** Sub-accounts with exactly one payout. */
  once: number;
}

async function countPayouts(adminUrl: string): Promise<Ordered> {
  return withAdminClient(adminUrl, async (client) => {
    const { rows } = await client.query<Ordered>(
      `SELECT COALESCE(sum(count), 0)::int AS payouts, count(*) FILTER (WHERE count = 1)::int AS once
       FROM (SELECT count(*) AS count FROM transfers WHERE kind = 'sub_account_payout' GROUP BY sub_account_id) AS counts`,
    );
    return rows[0] ?? { payouts: 0, once: 0 };
  });
}

async function verify(adminUrl: string, { payouts }: Ordered): Promise<void> {
  if (payouts !== subAccounts) throw new Error(`${payouts} payouts were ordered`);
  const db = openDatabase({
    url: adminUrl,
    connectionsMax: 1,
    clock: systemClock,
    onConnectionError: () => {},
    statementTimeoutMs: 2 * secondsMax * 1_000,
  });
  const { finding } = await verifyLedger(db);
  await db.close();
  if (finding !== null) throw new Error(`the ledger of the benchmark is wrong: ${finding.message}`);
}
