import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { chargeIdOf, createdAtOf, idOf } from './fill-payments.ts';
import type { Service } from './service.ts';

const batchRows = 100_000;

/** Books the payments that `fillPayments` wrote, each by one movement, and adds them to the balances. */
export async function fillMovements({ adminUrl, merchantId }: Service, count: number): Promise<void> {
  await withAdminClient(adminUrl, async (client) => {
    for (let firstRow = 1; firstRow <= count; firstRow += batchRows) {
      const lastRow = Math.min(count, firstRow + batchRows - 1);
      await client.query('BEGIN');
      await client.query(insertMovements, [merchantId, firstRow, lastRow]);
      await client.query(addToBalances, [merchantId, lastRow - firstRow + 1]);
      await client.query('COMMIT');
    }
    await client.query('VACUUM ANALYZE ledger_movements');
  });
}

const insertMovements = `
  INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow, source_type, source_id,
    created_at)
  SELECT $1::uuid, ${idOf('f')}, 'float:aps-test', 'payable_available', 45000, 'GMD', 'collected', 'charge', ${chargeIdOf('n')},
    ${createdAtOf('n')}
  FROM generate_series($2::int, $3::int) AS n`;

// A float grows by what is debited, what is payable by what is credited.
const addToBalances = `
  INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance)
  SELECT $1::uuid, account, 'GMD', split_part(account, ':', 1), 45000 * $2::bigint
  FROM unnest(ARRAY['float:aps-test', 'payable_available']) AS account
  ON CONFLICT (merchant_id, account, currency) DO UPDATE SET balance = ledger_accounts.balance + excluded.balance`;
