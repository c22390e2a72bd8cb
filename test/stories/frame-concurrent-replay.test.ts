import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiResponse, ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { createContractClient, loadContract } from '../harness/openapi.ts';
import { startService } from '../harness/service.ts';
import type { TestBusiness, TestService } from '../harness/service.ts';
import { countRows } from '../harness/tables.ts';

const rounds = effort({ usual: 10, long: 100 });
const concurrency = 50;

let services: TestService[];
let business: TestBusiness;
let clients: ApiClient[];

before(async () => {
  const first = await startService();
  const second = await startService({ database: first.database });
  services = [first, second];
  business = await first.onboard();
  const contract = await loadContract();
  clients = services.map(({ url }) => createContractClient(contract, url, business.test.key));
});

after(async () => {
  // The first one made the database and takes it away.
  for (const service of services.toReversed()) await service.stop();
});

test('of many identical concurrent requests to two processes one takes effect and all get its response', async () => {
  const [service] = services;
  assert.ok(service);
  const stored = () => countRows(service, business.test.merchant.id, 'payment_intents', 'charges');
  for (let round = 1; round <= rounds; round += 1) {
    const responses = await Promise.all(
      Array.from({ length: concurrency }, (_, index) => send(clients[index % clients.length], `round-${round}`)),
    );
    const created = responses.filter((response) => response.status === 201 && !isReplay(response));
    const [first] = created;
    assert.ok(first && created.length === 1, `round ${round}: ${created.length} had an effect`);
    for (const response of responses) {
      // The contract client saw that a 409 says when to come back.
      if (response.status === 409) assert.equal(response.body['code'], 'idempotency_in_progress');
      else assert.deepEqual([response.status, response.text], [201, first.text]);
    }
    assert.deepEqual(await stored(), { payment_intents: round, charges: round });
  }
});

function send(client: ApiClient | undefined, key: string): Promise<ApiResponse> {
  assert.ok(client);
  const body = { data: { amount: 450, network: 'wave', account_number: '7000004' } };
  return client.post('/v1/payments', body, { 'idempotency-key': key });
}

function isReplay(response: ApiResponse): boolean {
  return response.headers.get('idempotent-replayed') === 'true';
}
