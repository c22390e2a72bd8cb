import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';

let service: TestService;
let business: TestBusiness;
let api: ApiClient;

before(async () => {
  service = await startService();
  business = await service.onboard();
  api = createApiClient(service.url, business.test.key);
});

after(() => service.stop());

test('a direct charge is paid, its signed events arrive, and the ledger balances', async () => {
  const receiver = await startCallbackReceiver();
  const endpoint = `/v1/webhook-endpoints/${business.test.endpointId}`;
  const put = await api.send('PUT', endpoint, {
    body: JSON.stringify({ url: `${receiver.url}/events` }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(put.status, 200, put.text);

  const created = await api.post('/v1/payments', {
    data: { amount: 450.5, network: 'aps', account_number: '7000001' },
  });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.body['status'], 'processing');
  const id = String(created.body['payment_intent_id']);
  await eventually('the intent is successful', async () => {
    const { body } = await api.get(`/v1/payments/${id}`);
    return body['status'] === 'successful';
  });
  const transaction = await api.get(`/v1/transactions/${id}`);
  assert.equal(transaction.body['status'], 'completed');
  assert.equal(transaction.body['amount_paid'], 450.5);

  await eventually('both events arrived', () => receiver.received.length >= 2);
  const kinds = receiver.received.map(({ body }) => JSON.parse(body.toString()).event).toSorted();
  assert.deepEqual(kinds, ['charge.succeeded', 'payment_intent.created']);
  for (const { headers, body } of receiver.received) {
    const expected = createHmac('sha512', business.test.webhookSecret).update(body).digest('hex');
    assert.equal(headers['x-service-signature'], expected);
  }
  const { finding } = await verifyLedger(service.db);
  assert.equal(finding, null);
  await receiver.close();
});
