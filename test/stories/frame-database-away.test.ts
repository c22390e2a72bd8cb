import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { createContractClient, loadContract } from '../harness/openapi.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';
import { countRows } from '../harness/tables.ts';
import { overTcp, startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let business: TestBusiness;
let api: ApiClient;

before(async () => {
  database = await createTestDatabase();
  const url = new URL(database.appUrl);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  service = await startService({
    database: { ...database, appUrl: overTcp(database.appUrl, proxy.port) },
    isPatient: false,
  });
  business = await service.onboard();
  api = createContractClient(await loadContract(), service.url, business.test.key);
});

after(async () => {
  await service.stop();
  await proxy.close();
  await database.drop();
});

test('without its database the service responds with 503 and Retry-After, loses nothing, and recovers', async () => {
  const plain = createApiClient(service.url, '');
  const pay = (key: string) => api.post('/v1/payments', { data: { amount: 10 } }, { 'idempotency-key': key });
  const first = await pay('before');
  assert.equal(first.status, 201);
  assert.equal((await plain.get('/readyz')).status, 200);

  await proxy.cut();
  const id = String(first.body['payment_intent_id']);
  const refused = [
    await pay('away'),
    await pay('before'),
    await api.post(`/v1/payments/${id}/cancel`),
    await api.send('DELETE', `/v1/webhook-endpoints/${business.test.endpointId}`),
    ...(await Promise.all(
      ['/v1/payments', '/v1/transactions?term=a', `/v1/payments/${id}`].map((path) => api.get(path)),
    )),
    await createApiClient(service.url, business.live.key).get('/v1/payments'),
  ];
  for (const response of refused) {
    // A client with a valid key and one without get the same response.
    assert.deepEqual([response.status, response.body['code']], [503, 'unavailable'], response.text);
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.doesNotMatch(response.text, /ECONN|postgres|127\.0\.0\.1:\d+"|connection/i);
  }
  const [ready, healthy] = [await plain.get('/readyz'), await plain.get('/healthz')];
  assert.deepEqual([ready.status, healthy.status], [503, 200]);

  await proxy.restore();
  await eventually('it is ready again', async () => (await plain.get('/readyz')).status === 200);
  const [again, replayed] = [await pay('away'), await pay('before')];
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, null]);
  assert.deepEqual([replayed.text, replayed.headers.get('idempotent-replayed')], [first.text, 'true']);
  const stored = await countRows(service, business.test.merchant.id, 'payment_intents', 'idempotency_keys');
  assert.deepEqual(stored, { payment_intents: 2, idempotency_keys: 2 });
});
