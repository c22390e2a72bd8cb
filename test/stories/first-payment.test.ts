import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { createApiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startService } from '../harness/service.ts';
import type { TestBusiness, TestService } from '../harness/service.ts';

let service: TestService;
let business: TestBusiness;
let api: ApiClient;

before(async () => {
  service = await startService();
  business = await service.onboard();
  api = createApiClient(service.url, business.test.key);
});

after(() => service.stop());

test('a direct charge that the network approves is paid, and the ledger balances', async () => {
  const created = await api.post('/v1/payments', {
    data: { amount: 450.5, network: 'aps', account_number: '7000001' },
  });
  assert.equal(created.status, 201, created.text);
  const id = String(created.body['payment_intent_id']);
  await eventually('the intent is successful', async () => {
    const { body } = await api.get(`/v1/payments/${id}`);
    return body['status'] === 'successful';
  });
  const transaction = await api.get(`/v1/transactions/${id}`);
  assert.equal(transaction.body['status'], 'completed');
  assert.equal(transaction.body['amount_paid'], 450.5);
  const { finding } = await verifyLedger(service.db);
  assert.equal(finding, null);
});
