import { createServiceLog } from '../server/src/api/service-log.ts';
import { chainRows } from '../server/src/chain/append-blocks.ts';
import { verifyChains } from '../server/src/chain/verify-chain.ts';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { migrate } from '../server/src/database/migrate.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { openDatabase, type Database } from '../server/src/kit/db.ts';
import { verifyLedger } from '../server/src/ledger/verify.ts';
import type { Part } from './harness/part.ts';
import { whole } from './harness/statistics.ts';

const movements = 1_000_000;
const merchants = 100;
const secondsMax = 60;

export const ledgerVerify: Part = {
  name: 'verify',
  title: 'Verifying the ledger',
  description:
    `Every balance recomputed from ${whole(movements)} movements of ${merchants} merchants and compared with what is ` +
    'stored, as `npm run operator -- ledger verify` does it; then every hash of their chains, as `chain verify` does.',
  async run(bench) {
    const adminUrl = await bench.createDatabase();
    await migrate({ adminUrl, clock: systemClock, log: () => {} });
    await fillLedger(adminUrl);
    const db = openDatabase({
      url: adminUrl,
      connectionsMax: 1,
      clock: systemClock,
      onConnectionError: () => {},
      statementTimeoutMs: 2 * secondsMax * 1_000,
    });
    const beganAt = performance.now();
    const result = await verifyLedger(db);
    const seconds = (performance.now() - beganAt) / 1_000;
    const chainSeconds = await verifyHashes(db);
    await db.close();
    if (result.finding !== null) throw new Error(`the ledger of the benchmark is wrong: ${result.finding.message}`);
    if (result.movements !== BigInt(movements)) throw new Error(`${result.movements} movements were read`);
    bench.log(`  ${seconds.toFixed(1)} s, hash chains ${chainSeconds.toFixed(1)} s`);
    return {
      figures: [
        {
          label: `${whole(movements)} movements`,
          value: `${seconds.toFixed(1)} s`,
          aim: { text: `under ${secondsMax} s`, isMet: seconds < secondsMax },
        },
        {
          label: 'Their hash chains',
          value: `${chainSeconds.toFixed(1)} s`,
          aim: { text: `under ${secondsMax} s`, isMet: chainSeconds < secondsMax },
        },
        { label: 'Accounts', value: whole(Number(result.accounts)) },
      ],
      bars: [
        { label: 'verifying a million movements', value: seconds, aim: secondsMax, better: 'lower', unit: 's' },
        { label: 'verifying their hash chains', value: chainSeconds, aim: secondsMax, better: 'lower', unit: 's' },
      ],
    };
  },
};

/** Chains every movement, and returns how long it takes to verify all hashes. */
async function verifyHashes(db: Database): Promise<number> {
  const log = createServiceLog({ level: 'error' });
  while ((await chainRows({ db, clock: systemClock, log })) > 0);
  const beganAt = performance.now();
  const { rows, findings, unchainedRows } = await verifyChains({ db, clock: systemClock });
  const seconds = (performance.now() - beganAt) / 1_000;
  if (findings.length > 0 || unchainedRows > 0n) throw new Error('the hash chains of the benchmark are wrong');
  if (rows !== BigInt(movements)) throw new Error(`${rows} rows were verified`);
  return seconds;
}

/** Payments of 100 with a fee of 2, two movements each, and their balances. */
async function fillLedger(adminUrl: string): Promise<void> {
  await withAdminClient(adminUrl, async (client) => {
    await client.query(
      `INSERT INTO businesses (id, name, created_at) SELECT ${businessId('m')}, 'Business ' || m, to_timestamp(0)
       FROM generate_series(1, $1::int) AS m`,
      [merchants],
    );
    await client.query(
      `INSERT INTO merchants (id, business_id, short_id, name, test_mode, currency, fee_payer, created_at)
       SELECT ${merchantId('m')}, ${businessId('m')}, lpad(m::text, 8, '0'), 'Business ' || m, true, 'GMD', 'business', to_timestamp(0)
       FROM generate_series(1, $1::int) AS m`,
      [merchants],
    );
    await client.query('INSERT INTO merchant_places (merchant_id) SELECT id FROM merchants');
    await client.query(
      `INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow,
         source_type, source_id, created_at)
       SELECT ${merchantId('1 + n / 2 % $2::int')}, ${movementId('n')}, 'float:gsma-test',
         CASE n % 2 WHEN 0 THEN 'fees' ELSE 'payable_available' END, CASE n % 2 WHEN 0 THEN 200 ELSE 9800 END, 'GMD',
         'collected', 'charge', ${movementId('n / 2')}, to_timestamp(0)
       FROM generate_series(0, $1::int - 1) AS n`,
      [movements, merchants],
    );
    for (const side of ['debit_account', 'credit_account']) {
      await client.query(
        `INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance)
         SELECT merchant_id, ${side}, currency, split_part(${side}, ':', 1), sum(amount)
         FROM ledger_movements GROUP BY 1, 2, 3, 4`,
      );
    }
    await client.query('VACUUM ANALYZE ledger_movements');
  });
}

const uuidOf = (group: string, number: string) =>
  `('${group}-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
const businessId = (number: string) => uuidOf('00000001', number);
const merchantId = (number: string) => uuidOf('00000002', number);
const movementId = (number: string) => uuidOf('00000003', number);
