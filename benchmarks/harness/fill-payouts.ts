import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { chargeIdOf, createdAtOf, idOf } from './fill-payments.ts';
import type { Service } from './service.ts';

const batchRows = 100_000;
// As many people, each with a number of its own.
const names = 5_000;

/**
 * Writes transfers, and as many refunds of the payments that `fillPayments` wrote: each second payment has one. As the owner of the
 * tables, without the checks of foreign keys, which would take most of the time.
 */
export async function fillPayouts({ adminUrl, merchantId }: Service, count: number): Promise<void> {
  await withAdminClient(adminUrl, async (client) => {
    await client.query('SET session_replication_role = replica');
    for (let firstRow = 1; firstRow <= count; firstRow += batchRows) {
      const values = [merchantId, firstRow, Math.min(count, firstRow + batchRows - 1)];
      for (const text of [insertTransfers, insertTransfersOfRefunds, insertRefunds]) await client.query(text, values);
    }
    for (const table of ['transfers', 'refunds']) await client.query(`VACUUM ANALYZE ${table}`);
  });
}

const columns = `(merchant_id, id, kind, status, amount, fee, currency, network, account_number, account_canonical, beneficiary_name,
    metadata, route, reference, progress, sends, event_sequence, created_at, updated_at)`;

const rowOf = (kind: 'transfer' | 'refund', id: string, mark: string) => `
  SELECT $1::uuid, ${id}, '${kind}', 'completed', 100 * (1 + n % 5000), 0, 'GMD', 'aps', number, '+22087' || number,
    ${kind === 'transfer' ? `'Person ' || n % ${names}` : 'NULL'}, '{}', 'payout',
    (SELECT short_id FROM merchants WHERE id = $1::uuid) || substr(md5('${mark}' || n), 1, 22), 'final', 1, 1, ${createdAtOf('2 * n')},
    ${createdAtOf('2 * n')}
  FROM (SELECT n, '70' || lpad((n % ${names})::text, 5, '0') AS number FROM generate_series($2::int, $3::int) AS n) AS numbered`;

const insertTransfers = `INSERT INTO transfers ${columns} ${rowOf('transfer', idOf('d', '2 * n'), 'p')}`;
const insertTransfersOfRefunds = `INSERT INTO transfers ${columns} ${rowOf('refund', idOf('e', '2 * n'), 'q')}`;
const insertRefunds = `
  INSERT INTO refunds (merchant_id, id, charge_id, amount, currency, created_at)
  SELECT $1::uuid, ${idOf('e', '2 * n')}, ${chargeIdOf('2 * n')}, 100 * (1 + n % 5000), 'GMD', ${createdAtOf('2 * n')}
  FROM generate_series($2::int, $3::int) AS n`;
