import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import type { ApiResponse, ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { createContractClient, loadContract, type Contract } from '../harness/openapi.ts';
import { ProcessWorld } from '../harness/process.ts';
import { startServiceProcess } from '../harness/service-process.ts';
import { startService, type TestMerchant, type TestService } from '../harness/service.ts';
import { asOwner, countRows } from '../harness/tables.ts';
import { transferBody } from '../harness/transfer-story.ts';

const concurrency = 50;
// So that requests race each other in the database.
const connectionsMax = 10;
const rounds = effort({ usual: 10, long: 200 });
// A second process costs a start.
const startSecond = effort({ usual: startInProcess, long: startProcess });

let service: TestService;
let second: { url: string; stop(): Promise<unknown> };
let contract: Contract;

before(async () => {
  service = await startService({ connectionsMax });
  second = await startSecond();
  contract = await loadContract();
});

after(async () => {
  await second.stop();
  await service.stop();
});

function startInProcess(): Promise<TestService> {
  return startService({ database: service.database, connectionsMax });
}

async function startProcess(): Promise<typeof second> {
  const world = new ProcessWorld();
  const { url } = await startServiceProcess(world, service);
  return { url, stop: () => world.close() };
}

test('of many identical concurrent payments to two processes one takes effect and all get its response', async () => {
  const { merchant, clients } = await onboard();
  const body = { data: { amount: 450, network: 'wave', account_number: '7000004' } };
  for (let round = 1; round <= rounds; round += 1) {
    await sendConcurrently(clients, { path: '/v1/payments', body, key: `round-${round}` });
    const stored: object = await countRows(service, merchant.merchant.id, 'payment_intents', 'charges');
    assert.deepEqual(stored, { payment_intents: round, charges: round });
  }
});

test('of many identical concurrent transfers to two processes one takes effect and all get its response', async () => {
  const { merchant, clients } = await onboard();
  const { id, shortId } = merchant.merchant;
  for (let round = 1; round <= rounds; round += 1) {
    await sendConcurrently(clients, { path: '/v1/transfers', body: transferBody, key: `round-${round}` });
    const stored: object = await countRows(service, id, 'transfers', 'ledger_holds', 'idempotency_keys');
    assert.deepEqual(stored, { transfers: round, ledger_holds: round, idempotency_keys: round });
  }
  for (let time = 0; time < 3; time += 1) await service.app.drain();
  const text = `SELECT count(*)::integer AS count FROM simulator.payouts WHERE account = $1 AND status = 'completed'`;
  const [paid] = await asOwner<{ count: number }>(service, text, [shortId]);
  assert.equal(paid?.count, rounds, 'each transfer was paid once');
  const balances = await clients[0]?.get('/v1/balances');
  assert.equal(balances?.body['payout_balance'], 1_000_000 - rounds * transferBody.amount);
  assert.equal((await verifyLedger(service.db)).finding, null);
  assert.equal(await verifyHolds(service.db), null);
});

/** A merchant with a client at each process. */
async function onboard(): Promise<{ merchant: TestMerchant; clients: ApiClient[] }> {
  const { test: merchant } = await service.onboard();
  return { merchant, clients: [service, second].map(({ url }) => createContractClient(contract, url, merchant.key)) };
}

/** Sends the same request many times at both processes; fails unless one response is new and the others replay it. */
async function sendConcurrently(
  clients: readonly ApiClient[],
  { path, body, key }: { path: string; body: object; key: string },
): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: concurrency }, (_, index) => {
      const client = clients[index % clients.length];
      assert.ok(client);
      return client.post(path, body, { 'idempotency-key': key });
    }),
  );
  const created = responses.filter((response) => response.status === 201 && !isReplay(response));
  const [first] = created;
  assert.ok(first && created.length === 1, `${key}: ${created.length} took effect`);
  for (const response of responses) {
    // The contract client checked the 409's Retry-After.
    if (response.status === 409) assert.equal(response.body['code'], 'idempotency_in_progress');
    else assert.deepEqual([response.status, response.text], [201, first.text]);
  }
}

function isReplay(response: ApiResponse): boolean {
  return response.headers.get('idempotent-replayed') === 'true';
}
