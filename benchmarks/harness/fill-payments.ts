import { withAdminClient } from '../../server/src/database/admin-client.ts';
import type { Service } from './service.ts';

const batchRows = 100_000;

/**
 * Writes paid payments as the owner of the tables, faster than any API could: each with its charge and an event, ids in
 * the order of time as the service makes them, secrets and references as random as its own. Answers the seconds that it
 * took.
 */
export async function fillPayments({ adminUrl, merchantId }: Service, payments: number): Promise<number> {
  const beganAt = performance.now();
  await withAdminClient(adminUrl, async (client) => {
    for (let firstRow = 1; firstRow <= payments; firstRow += batchRows) {
      const values = [merchantId, firstRow, Math.min(payments, firstRow + batchRows - 1)];
      for (const text of [insertIntents, insertCharges, insertEvents]) await client.query(text, values);
    }
    // As autovacuum would within minutes.
    for (const table of ['payment_intents', 'charges', 'events']) await client.query(`VACUUM ANALYZE ${table}`);
  });
  return (performance.now() - beganAt) / 1_000;
}

/** Gives a payer's number to one payment in so many. */
export const giveNumberTo = (number: string, share: number): string =>
  `UPDATE charges SET account_number = '${number}', account_canonical = '+22087${number}'
   WHERE mod(substr(network_transaction_id, 2)::int, ${share}) = 0`;

/** A UUID of version 7 of the row with this number, one every five seconds: two months of a million, a year and a half of ten. */
export const idOf = (kind: 'a' | 'b' | 'c' | 'd' | 'e' | 'f', row = 'n') =>
  `(lpad(to_hex(1735689600000 + (${row})::bigint * 5000), 12, '0') || '7${kind}00b' || substr(md5((${row})::text), 1, 15))::uuid`;

export const chargeIdOf = (row: string) => idOf('b', row);

export const createdAtOf = (row: string) => `to_timestamp(1735689600 + (${row})::bigint * 5)`;

const createdAt = createdAtOf('n');

const insertIntents = `
  INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token,
    return_url, title, metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at)
  SELECT $1::uuid, ${idOf('a')}, 'successful', 45000, 0, 'business', 'GMD', md5('s' || n) || md5('t' || n),
    (SELECT short_id FROM merchants WHERE id = $1::uuid) || substr(md5('c' || n), 1, 22),
    'https://shop.example/orders/' || n, 'Order ' || n, json_build_object('order', n::text), 'api', 1, false, 1, ${createdAt},
    ${createdAt}, ${createdAt}
  FROM generate_series($2::int, $3::int) AS n`;

const insertCharges = `
  INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid, currency, network,
    account_number, account_canonical, reference, transaction_reference, progress, late, amount_refunded, event_sequence,
    network_transaction_id, paid_at, created_at, updated_at)
  SELECT $1::uuid, ${idOf('b')}, ${idOf('a')}, 1, 'completed', 45000, 0, 'business', 45000, 'GMD', 'aps', '7000001', '+2207000001',
    (SELECT short_id FROM merchants WHERE id = $1::uuid) || substr(md5('r' || n), 1, 22), 'TX-' || n, 'final', false, 0, 2,
    'T' || n, ${createdAt}, ${createdAt}, ${createdAt}
  FROM generate_series($2::int, $3::int) AS n`;

const insertEvents = `
  INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, created_at)
  SELECT $1::uuid, ${idOf('c')}, 'payment_intent.created', ${idOf('a')}, 1, json_build_object('title', 'Order ' || n), ${createdAt}
  FROM generate_series($2::int, $3::int) AS n`;
