import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createEmptyTestDatabase } from '../../../test/harness/database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { migrate } from '../database/migrate.ts';
import { migrationsFolder } from '../database/migration-files.ts';
import { systemClock } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';

type OldMerchant = [name: string, percent: number, fixed: number, minimum: number, maximum: number | null];

/** As versions before migration 5 stored them. */
const before: OldMerchant[] = [
  ['nothing', 0, 0, 0, null],
  ['nothing, and not more', 0, 0, 0, 500],
  ['everything', 150, 500, 1_000, 10_000],
  ['percent', 275, 0, 0, null],
  ['minimum', 0, 0, 100, null],
];

const afterwards = [
  ['everything', 'collection', 'all', '150', '500', '1000', '10000'],
  ['minimum', 'collection', 'all', '0', '0', '100', null],
  ['percent', 'collection', 'all', '275', '0', '0', null],
];

test('migration 5 copies each collection fee rule, drops zero rules, and keeps the old version running', async () => {
  const database = await createEmptyTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-fees-'));
  const upTo = async (newest: string): Promise<void> => {
    for (const name of readdirSync(migrationsFolder).filter((file) => /^\d/.test(file) && file.slice(0, 4) <= newest)) {
      copyFileSync(join(migrationsFolder, name), join(folder, name));
    }
    await migrate({ adminUrl: database.adminUrl, clock: systemClock, log: () => {}, folder });
  };
  const random = seededRandom('fees migration');
  try {
    await upTo('0004');
    await withAdminClient(database.adminUrl, async (client) => {
      const insertOld = async ([name, ...fee]: OldMerchant, payer: string): Promise<void> => {
        const business = uuidV7(systemClock, random);
        await client.query('INSERT INTO businesses VALUES ($1, $2, to_timestamp(0))', [business, name]);
        await client.query(
          `INSERT INTO merchants (id, business_id, short_id, name, test_mode, currency, fee_percent_hundredths, fee_fixed,
             fee_minimum, fee_maximum, fee_payer, created_at)
           VALUES ($1, $2, $3, $4, true, 'GMD', $5, $6, $7, $8, $9, to_timestamp(0))`,
          [uuidV7(systemClock, random), business, business.slice(-8), name, ...fee, payer],
        );
      };
      for (const merchant of before) await insertOld(merchant, 'customer');
      await upTo('0005');
      const { rows } = await client.query<{ row: unknown[] }>(
        `SELECT json_build_array(merchants.name, operation, network, percent_hundredths::text, fixed::text, minimum::text,
                  maximum::text) AS row
         FROM fee_rules JOIN merchants ON merchants.id = fee_rules.merchant_id ORDER BY merchants.name`,
      );
      assert.deepEqual(
        rows.map(({ row }) => row),
        afterwards,
      );
      const payers = await client.query('SELECT DISTINCT fee_payer FROM merchants');
      assert.deepEqual(payers.rows, [{ fee_payer: 'customer' }], 'who pays stays');
      await insertOld(['made by the version before', 0, 0, 0, null], 'business');
      const old = await client.query(
        'SELECT fee_percent_hundredths, fee_fixed, fee_minimum, fee_maximum FROM merchants',
      );
      assert.equal(old.rowCount, before.length + 1, 'the version before reads what it knows');
    });
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
});
