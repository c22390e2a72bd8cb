import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import type { ApiResponse, ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { createContractClient, loadContract } from '../harness/openapi.ts';
import { startService } from '../harness/service.ts';
import type { TestBusiness, TestService } from '../harness/service.ts';
import { asOwner, countRows } from '../harness/tables.ts';
import { transferBody } from '../harness/transfer-story.ts';

const rounds = effort({ usual: 10, long: 200 });
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

test('of many identical concurrent requests to two processes one is a transfer and all get its response', async () => {
  const [service] = services;
  assert.ok(service);
  const { id: merchantId, shortId } = business.test.merchant;
  for (let round = 1; round <= rounds; round += 1) {
    const responses = await Promise.all(
      Array.from({ length: concurrency }, (_, index) =>
        requestTransfer(clients[index % clients.length], `round-${round}`),
      ),
    );
    const created = responses.filter((response) => response.status === 201 && !isReplay(response));
    const [first] = created;
    assert.ok(first && created.length === 1, `round ${round}: ${created.length} were transfers`);
    for (const response of responses) {
      // The contract client saw that a 409 says when to come back.
      if (response.status === 409) assert.equal(response.body['code'], 'idempotency_in_progress');
      else assert.deepEqual([response.status, response.text], [201, first.text]);
    }
    const stored: object = await countRows(service, merchantId, 'transfers', 'ledger_holds', 'idempotency_keys');
    assert.deepEqual(stored, { transfers: round, ledger_holds: round, idempotency_keys: round });
  }
  for (const { app } of [...services, ...services]) await app.drain();
  const text = `SELECT count(*)::integer AS count FROM simulator.payouts WHERE account = $1 AND status = 'completed'`;
  const [paid] = await asOwner<{ count: number }>(service, text, [shortId]);
  assert.equal(paid?.count, rounds, 'each transfer was paid once');
  const balances = await clients[0]?.get('/v1/balances');
  assert.equal(balances?.body['payout_balance'], 1_000_000 - rounds * transferBody.amount);
  assert.equal((await verifyLedger(service.db)).finding, null);
  assert.equal(await verifyHolds(service.db), null);
});

function requestTransfer(client: ApiClient | undefined, key: string): Promise<ApiResponse> {
  assert.ok(client);
  return client.post('/v1/transfers', transferBody, { 'idempotency-key': key });
}

function isReplay(response: ApiResponse): boolean {
  return response.headers.get('idempotent-replayed') === 'true';
}
