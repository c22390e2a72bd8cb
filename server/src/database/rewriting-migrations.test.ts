import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type pg from 'pg';
import { createEmptyTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { withAdminClient } from './admin-client.ts';
import { migrate } from './migrate.ts';
import { migrationsFolder } from './migration-files.ts';
import { systemClock } from '../kit/clock.ts';

const moment = new Date('2026-11-20T12:00:00.000Z');
const business = '01939f00-0000-7000-8000-00000000000b';
const testMerchant = '01939f00-0000-7000-8000-00000000000c';
const liveMerchant = '01939f00-0000-7000-8000-00000000000d';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createEmptyTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'dalasi-migrations-'));
});

afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

/** Brings the database to a version, as the program of that version would. */
async function migrateTo(newest: string): Promise<void> {
  for (const name of readdirSync(migrationsFolder).filter((file) => /^\d/.test(file) && file.slice(0, 4) <= newest)) {
    copyFileSync(join(migrationsFolder, name), join(folder, name));
  }
  await migrate({ adminUrl: database.adminUrl, clock: systemClock, log: () => {}, folder });
}

async function insert(client: pg.Client, table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row);
  const parameters = columns.map((_column, index) => `$${index + 1}`);
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${parameters.join(', ')})`;
  await client.query(text, Object.values(row));
}

async function addMerchants(client: pg.Client): Promise<void> {
  await insert(client, 'businesses', { id: business, name: 'Shop', created_at: moment });
  for (const [id, testMode] of [
    [testMerchant, true],
    [liveMerchant, false],
  ] as const) {
    const fee = { fee_percent_hundredths: 0, fee_fixed: 0, fee_minimum: 0, fee_payer: 'business' };
    const named = { id, business_id: business, short_id: testMode ? 'aaaaaaaa' : 'bbbbbbbb', name: 'Shop' };
    await insert(client, 'merchants', { ...named, test_mode: testMode, currency: 'GMD', ...fee, created_at: moment });
  }
}

let charges = 0;

/** A charge with the work that is due for it. */
async function addCharge(client: pg.Client, merchantId: string, network: string, kinds: string[]): Promise<string> {
  charges += 1;
  const id = `01939f00-0000-7000-8000-${String(charges).padStart(12, '0')}`;
  const money = { amount: 100, fee: 0, fee_payer: 'business', currency: 'GMD' };
  const times = { created_at: moment, updated_at: moment };
  const counted = { late: false, event_sequence: 1 };
  await insert(client, 'payment_intents', {
    ...{ merchant_id: merchantId, id, status: 'processing', ...money, intent_secret: id, checkout_token: id },
    ...{ metadata: '{}', source: 'api', attempts: 1, ...counted, ...times, expires_at: moment },
  });
  await insert(client, 'charges', {
    ...{ merchant_id: merchantId, id, intent_id: id, attempt: 1, status: 'pending', ...money, amount_paid: 100 },
    ...{ network, reference: id, transaction_reference: id, progress: 'submitted', ...counted, amount_refunded: 0 },
    ...times,
  });
  for (const kind of kinds) await addWork(client, merchantId, { kind, subjectId: id, queue: 'networks' });
  return id;
}

async function addWork(
  client: pg.Client,
  merchantId: string,
  work: { kind: string; subjectId: string; queue: string },
): Promise<void> {
  const { kind, subjectId, queue } = work;
  const counted = { due_at: moment, attempts: 3, version: 4, created_at: moment };
  await insert(client, 'outbox', { merchant_id: merchantId, kind, subject_id: subjectId, queue, ...counted });
}

test('work for networks moves to its network’s queues, test and live apart, and stays as due as it was', async () => {
  await migrateTo('0006');
  await withAdminClient(database.adminUrl, async (client) => {
    await addMerchants(client);
    const inTest = await addCharge(client, testMerchant, 'wave', ['start_charge', 'look_up_charge', 'cancel_charge']);
    const live = await addCharge(client, liveMerchant, 'aps', ['look_up_charge']);
    const lost = '01939f00-0000-7000-8000-0000000000ff';
    await addWork(client, testMerchant, { kind: 'start_charge', subjectId: lost, queue: 'networks' });
    await addWork(client, testMerchant, { kind: 'dispatch_event', subjectId: lost, queue: 'webhooks' });
    await migrateTo('0007');
    const { rows } = await client.query<{ subject_id: string; kind: string; queue: string }>(
      `SELECT subject_id, kind, queue FROM outbox WHERE due_at = $1 AND attempts = 3 AND version = 4
       ORDER BY subject_id, kind`,
      [moment],
    );
    assert.deepEqual(
      rows.map(({ subject_id, kind, queue }) => [subject_id, kind, queue]),
      [
        [inTest, 'cancel_charge', 'network:wave-test:look-ups'],
        [inTest, 'look_up_charge', 'network:wave-test:look-ups'],
        [inTest, 'start_charge', 'network:wave-test:starts'],
        [live, 'look_up_charge', 'network:aps:look-ups'],
        [lost, 'dispatch_event', 'webhooks'],
        // Worked from the old queue, so that nothing is ever left where nobody looks.
        [lost, 'start_charge', 'networks'],
      ],
    );
  });
});

test('a case of a part that a network reversed names the transaction, and keeps the reference it had', async () => {
  await migrateTo('0025');
  await withAdminClient(database.adminUrl, async (client) => {
    await addMerchants(client);
    const row = { merchant_id: testMerchant, status: 'open', subject_type: 'charge', subject_id: testMerchant };
    const money = { amount: 4_000, currency: 'GMD', summary: 'A part came back.', created_at: moment };
    for (const [index, [kind, reference]] of [
      ['partial_reversal', 'T-1'],
      ['partial_reversal', 'T-1 part 4000'],
      ['second_success', 'T-2'],
    ].entries()) {
      await insert(client, 'cases', {
        ...row,
        ...money,
        id: `01939f00-0000-7000-8000-00000000000${index}`,
        kind,
        reference,
      });
    }
    await migrateTo('0026');
    const { rows } = await client.query<{ text: string }>(
      `SELECT reference || ', ' || COALESCE(network_transaction_id, 'the same') || ', ' || reported_again AS text
       FROM cases ORDER BY id`,
    );
    const texts = rows.map(({ text }) => text);
    assert.deepEqual(texts, ['T-1, the same, 0', 'T-1 part 4000, T-1, 0', 'T-2, the same, 0']);
  });
});
