import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import type { Statement } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import type { RecordedTransaction } from './recording.ts';
import type { Service } from './service.ts';

/*
 * What a durable intent costs in the database alone: an intent, its event and a row of the outbox in one transaction, as commit
 * fe763d9 wrote them. PostgreSQL's own load tool sends them where it is installed, so that nothing of ours takes part.
 */

/** Whether PostgreSQL's load tool is installed here. */
export function hasPgbench(): boolean {
  return spawnSync('pgbench', ['--version']).status === 0;
}

// An id as of version 7, which grows with time: milliseconds since a start, the client, and zeros.
const id = `(lpad(to_hex(:start::bigint + :n::bigint), 12, '0') || lpad(to_hex(28672 + :client_id::bigint), 4, '0') || '8000000000000000')::uuid`;

/** The transaction as a script of pgbench. Values that have a colon are handed over in hexadecimal. */
function scriptOf(merchantId: string, record: string): string {
  const json = `convert_from('\\x${Buffer.from(record).toString('hex')}'::bytea, 'UTF8')::json`;
  const now = 'to_timestamp(:start::bigint / 1000.0)';
  return `\\set n :n + 1
BEGIN;
INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token, return_url, title, metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at) VALUES ('${merchantId}', ${id}, 'requires_payment_method', 45000, 0, 'business', 'GMD', ${id}::text, ${id}::text, 'https'||chr(58)||'//shop.example/orders/1042', 'Order 1042', '{}', 'api', 0, false, 1, ${now}, ${now}, ${now});
INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, created_at) VALUES ('${merchantId}', ${id}, 'payment_intent.created', ${id}, 1, ${json}, ${now});
INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at) VALUES ('${merchantId}', 'benchmark', ${id}, 'benchmark', ${now}, 0, 0, ${now}) ON CONFLICT (merchant_id, kind, subject_id) DO UPDATE SET due_at = LEAST(outbox.due_at, excluded.due_at), version = outbox.version + 1;
END;
`;
}

/** The same transaction for a loop of our own, where pgbench is not installed. */
export async function recordThreeInserts(adminUrl: string, merchantId: string): Promise<RecordedTransaction> {
  const newId = () => uuidV7(systemClock, systemRandom);
  const [own, now] = [newId(), systemClock.now()];
  const record = await recordOfEvent(adminUrl, merchantId);
  const steps: Statement[] = [
    {
      name: 'three_inserts_intent',
      text: `INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token,
               return_url, title, metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at)
             VALUES ($1, $2, 'requires_payment_method', 45000, 0, 'business', 'GMD', $2::uuid::text, $2::uuid::text, $4,
               'Order 1042', '{}', 'api', 0, false, 1, $3, $3, $3)`,
      values: [merchantId, own, now, 'https://shop.example/orders/1042'],
    },
    {
      name: 'three_inserts_event',
      text: `INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, created_at)
             VALUES ($1, $2, 'payment_intent.created', $2, 1, $3, $4)`,
      values: [merchantId, own, record, now],
    },
    {
      name: 'three_inserts_outbox',
      text: `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
             VALUES ($1, 'benchmark', $2, 'benchmark', $3, 0, 0, $3) ON CONFLICT (merchant_id, kind, subject_id) DO UPDATE
             SET due_at = LEAST(outbox.due_at, excluded.due_at), version = outbox.version + 1`,
      values: [merchantId, own, now],
    },
  ];
  return {
    steps: steps.map((statement) => ({ statement, afterResultOf: null })),
    freshValues: () => new Map([[own, newId()]]),
  };
}

/** How many such transactions the database commits a second on this many connections, by pgbench. */
export async function databaseRate(
  { adminUrl, appUrl, merchantId }: Pick<Service, 'adminUrl' | 'appUrl' | 'merchantId'>,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<number> {
  const record = await recordOfEvent(adminUrl, merchantId);
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-bench-'));
  try {
    const script = join(folder, 'three-inserts.sql');
    writeFileSync(script, scriptOf(merchantId, record));
    const load = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '2', '-T', String(seconds)];
    const variables = ['-D', 'n=0', '-D', `start=${systemClock.now().getTime()}`];
    const { status, stdout, stderr } = spawnSync('pgbench', [...load, ...variables, '-f', script, appUrl], {
      encoding: 'utf8',
    });
    const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
    if (status !== 0 || rate === undefined) throw new Error(`pgbench failed: ${stderr}`);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true });
    await withAdminClient(adminUrl, (client) => client.query(`DELETE FROM outbox WHERE queue = 'benchmark'`));
  }
}

/** The record of an event that the service has written, for its size. */
async function recordOfEvent(adminUrl: string, merchantId: string): Promise<string> {
  return await withAdminClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ record: string }>(
      `SELECT record::text AS record FROM events WHERE merchant_id = $1 AND kind = 'payment_intent.created' ORDER BY id DESC LIMIT 1`,
      [merchantId],
    );
    const [event] = rows;
    if (!event) throw new Error('the service has created no intent yet');
    return event.record;
  });
}
