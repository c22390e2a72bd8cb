/**
 * Records what a release stores, for the check that a newer one works with it after an upgrade
 * (test/stories/upgrade.test.ts). Run once for each release, right before it, beside tools/record-statements.ts:
 *
 *     node tools/record-data.ts
 *
 * Writes server/migrations/released-data.json: the rows of a merchant who has used every part of the API.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { migrationsFolder, readMigrations } from '../server/src/database/migration-files.ts';
import { startTestCluster } from '../test/harness/cluster.ts';
import { dumpRows, releasedDataPath, type ReleasedData } from '../test/harness/released-data.ts';
import { startTransferStory, transferBody, type TransferStory } from '../test/harness/transfer-story.ts';

// Recorded anew, ids and secrets differ; the numbers decide what happens (docs/testing-with-the-simulator.md).
const approved = '7000001';
const declined = '7000002';
const otherAmount = '7000010';
const neverSettled = '7000004';
const untouched = '7123456';

async function useEveryPart(story: TransferStory): Promise<ReleasedData['replay']> {
  const { merchant } = story;
  const endpoint = { url: 'http://localhost:9/events', enabled_events: ['*'] };
  await change(story, `/v1/webhook-endpoints/${merchant.endpointId}`, endpoint);
  const customer = await create(story, '/v1/customers', {
    name: 'Awa Ceesay',
    phone: '7012345',
    email: 'awa@shop.example',
  });
  const destination = { settlement_code: 'aps', account_number: approved };
  const [first, second] = [
    await create(story, '/v1/sub-accounts', { name: 'Awa Ceesay', percentage: 20, ...destination }),
    await create(story, '/v1/sub-accounts', { name: 'Lamin Jallow', percentage: 12.5, ...destination }),
  ];
  const members = [
    { sub_account: first, percentage: 30 },
    { sub_account: second, percentage: 10 },
  ];
  const group = await create(story, '/v1/sub-account-groups', { name: 'Term fees', members });
  const link = { title: 'School fees', amount: 150, custom_fields: ['Student'], sub_account: first };
  await create(story, '/v1/payment-links', { data: link });
  await create(story, '/v1/virtual-terminals', { name: 'Front counter', chat_numbers: ['7012345'] });

  const paid = await story.paySettled(approved, { sub_account: first, customer, metadata: { order: '1042' } });
  await story.paySettled(approved, { amount: 400, sub_account_group: group });
  await story.paySettled(declined);
  await story.paySettled(otherAmount);
  await story.paySettled(untouched, { amount: 75 });
  await create(story, '/v1/payments', { data: { amount: 30, title: 'Not begun' } });
  const cancelled = await create(story, '/v1/payments', { data: { amount: 31 } });
  await post(story, `/v1/payments/${cancelled}/cancel`, undefined, 200);

  const { id: charge } = await story.transaction(paid);
  await create(story, '/v1/transactions/refund', { reference: charge, amount: 50 });
  await story.transferSettled(approved);
  await story.transferSettled(declined);
  await story.transferSettled(neverSettled);
  const replay = { key: 'wages-november-awa', body: { ...transferBody, account_number: approved } };
  const { text } = await post(story, '/v1/transfers', replay.body, 201, replay.key);
  await post(story, `/v1/sub-accounts/${first}/payouts`, { amount: 12 }, 201, 'awa-november');
  await story.settle();
  // What is under way when the upgrade comes: a payment and a transfer that nobody has worked on yet.
  await story.pay(approved, { amount: 60 });
  await story.transfer(approved, { amount: 70 });
  return { ...replay, response: text };
}

async function create(story: TransferStory, path: string, body: unknown): Promise<string> {
  const { body: record } = await post(story, path, body, 201);
  return String(record['id']);
}

async function post(story: TransferStory, path: string, body: unknown, status: number, key?: string) {
  const response = await story.api.post(path, body, key === undefined ? {} : { 'idempotency-key': key });
  assert.equal(response.status, status, response.text);
  return response;
}

async function change(story: TransferStory, path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await story.api.send('PUT', path, { body: JSON.stringify(body), headers });
  assert.equal(response.status, 200, response.text);
}

const cluster = await startTestCluster();
try {
  Object.assign(process.env, cluster.env);
  const story = await startTransferStory();
  try {
    const replay = await useEveryPart(story);
    const data: ReleasedData = {
      migration: readMigrations(migrationsFolder).at(-1)?.number ?? 0,
      recordedAt: story.clock.now().toISOString(),
      merchantId: story.merchant.merchant.id,
      replay,
      tables: await dumpRows(story.service),
    };
    writeFileSync(releasedDataPath, `${JSON.stringify(data, null, 1)}\n`);
    const rows = Object.values(data.tables).reduce((sum, { length }) => sum + length, 0);
    console.log(`${rows} rows of ${Object.keys(data.tables).length} tables were recorded.`);
  } finally {
    await story.stop();
  }
} finally {
  await cluster.stop();
}
