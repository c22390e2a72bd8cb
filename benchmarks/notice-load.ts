/**
 * Payments at counters that become paid at a steady rate, each in one transaction with the work of telling of it, as
 * the service books them; and the moment in which each was committed.
 */
import { openChanges } from './harness/changes.ts';
import { printResult, programOptions } from './harness/program.ts';
import { atRate } from './harness/load-rate.ts';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { enqueue } from '../server/src/events/outbox.ts';
import type { EventContext } from '../server/src/events/append-event.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import type { Database } from '../server/src/kit/db.ts';

export interface NoticeLoadOptions {
  adminUrl: string;
  appUrl: string;
  paymentsPerSecond: number;
  seconds: number;
  /** Counters, each with a chat number, which gets at most one message in six seconds. */
  counters: number;
  /** Distinguishes the payments of different runs. */
  run: string;
}

export interface NoticeLoadResult {
  /** By reference, in milliseconds of the wall clock. */
  committedAtMs: Record<string, number>;
}

interface Prepared {
  merchantId: string;
  chargeId: string;
  reference: string;
}

async function noticeLoad(options: NoticeLoadOptions): Promise<NoticeLoadResult> {
  const { paymentsPerSecond, seconds } = options;
  const prepared = await prepare(options);
  const { db, context, close } = await openChanges(options.appUrl, 10);
  const committedAtMs: Record<string, number> = {};
  await atRate({ perSecond: paymentsPerSecond, seconds, concurrencyMax: 10 }, async () => {
    const payment = prepared.pop();
    if (!payment) return;
    await bookPaid(db, context, payment);
    committedAtMs[payment.reference] = performance.timeOrigin + performance.now();
  });
  await close();
  return { committedAtMs };
}

async function bookPaid(
  db: Database,
  context: EventContext,
  { merchantId, chargeId: subjectId }: Prepared,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    await tx.run({
      name: 'bench_charge_paid',
      text: `UPDATE charges SET status = 'completed', paid_at = $3 WHERE merchant_id = $1 AND id = $2`,
      values: [merchantId, subjectId, systemClock.now()],
    });
    enqueue(tx, context, { merchantId, queue: 'notifications', kind: 'notify_charge', subjectId });
  });
}

/**
 * Counters and payments at them that nobody has paid yet, at one counter after the other, written as the owner of the
 * tables.
 */
function prepare({ adminUrl, counters, paymentsPerSecond, seconds, run }: NoticeLoadOptions): Promise<Prepared[]> {
  return withAdminClient(adminUrl, async (client) => {
    const { rows: merchants } = await client.query<{ id: string }>('SELECT id FROM merchants WHERE NOT test_mode');
    const merchantId = merchants[0]?.id;
    await client.query(insertCounters, [merchantId, counters]);
    const payments = paymentsPerSecond * (seconds + 1);
    for (const text of [insertIntents, insertCharges]) await client.query(text, [merchantId, payments, run, counters]);
    for (const table of ['virtual_terminals', 'payment_intents', 'charges']) await client.query(`ANALYZE ${table}`);
    const { rows } = await client.query<Prepared>(
      `SELECT merchant_id AS "merchantId", id AS "chargeId", transaction_reference AS reference FROM charges
       WHERE merchant_id = $1 AND status = 'pending' AND transaction_reference LIKE 'TX-' || $2 || '-%'
       ORDER BY split_part(transaction_reference, '-', 3)::int DESC`,
      [merchantId, run],
    );
    return rows;
  });
}

const terminalId = (number: string) => `('00000001-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
const idOf = (kind: string) => `(md5('${kind}' || $3::text || n))::uuid`;
const createdAt = 'to_timestamp(1735689600)';

const insertCounters = `
  INSERT INTO virtual_terminals (merchant_id, id, name, code, chat_numbers, chat_canonical, active, created_at, updated_at)
  SELECT $1::uuid, ${terminalId('n')}, 'Counter ' || n, (1000000 + n)::text, ARRAY[(7000000 + n)::text],
    ARRAY['+22087' || (7000000 + n)::text], true, ${createdAt}, ${createdAt}
  FROM generate_series(1, $2::int) AS n
  ON CONFLICT DO NOTHING`;

const insertIntents = `
  INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token,
    metadata, source, terminal_id, attempts, late, event_sequence, created_at, updated_at, expires_at)
  SELECT $1::uuid, ${idOf('intent')}, 'successful', 45000, 0, 'business', 'GMD', md5('s' || $3::text || n),
    (SELECT short_id FROM merchants WHERE id = $1::uuid) || substr(md5('c' || $3::text || n), 1, 22),
    '{}', 'terminal', ${terminalId('1 + n % $4::int')}, 1, false, 1, ${createdAt}, ${createdAt}, ${createdAt}
  FROM generate_series(1, $2::int) AS n`;

const insertCharges = `
  INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid, currency, network,
    account_number, account_canonical, reference, transaction_reference, progress, late, amount_refunded, event_sequence,
    created_at, updated_at)
  SELECT $1::uuid, ${idOf('charge')}, ${idOf('intent')}, 1, 'pending', 45000, 0, 'business', 45000, 'GMD', 'aps', '7000001',
    '+220877000001', (SELECT short_id FROM merchants WHERE id = $1::uuid) || substr(md5('r' || $3::text || n), 1, 22),
    'TX-' || $3::text || '-' || n, 'submitted', false, 0, 1, ${createdAt}, ${createdAt}
  FROM generate_series(1, $2::int) AS n
  WHERE $4::int > 0`;

printResult(await noticeLoad(programOptions<NoticeLoadOptions>()));
