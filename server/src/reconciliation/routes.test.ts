import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createContractClient, loadContract } from '../../../test/harness/openapi.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import type { ApiClient } from '../../../test/harness/api-client.ts';
import { asOwner } from '../../../test/harness/tables.ts';

let service: TestService;
let owner: TestBusiness;
let other: ApiClient;
let api: ApiClient;

before(async () => {
  service = await startService();
  const contract = await loadContract();
  owner = await service.onboard();
  api = createContractClient(contract, service.url, owner.test.key);
  other = createContractClient(contract, service.url, (await service.onboard('Another')).test.key);
  const { id } = owner.test.merchant;
  // As a run writes them for an account that is the business's own.
  await asOwner(
    service,
    `INSERT INTO reconciliation_days VALUES ('wave-own', '2026-11-20', '01a1f8ac-4b37-7417-9fed-11d78420f714', $1, true, 'GMD', 3, 2, 0,
       '{"unknown":1}', 0, 12550, 62550, 10000, 60000, 0, 2550, 0, '2026-11-21')`,
    [id],
  );
  for (const [index, account] of ['wave-own', 'wave-test'].entries()) {
    await asOwner(
      service,
      `INSERT INTO reconciliation_differences VALUES ($2, $3, 'unknown', 'open', 'line', $3, $1, NULL, '2026-11-20', NULL, NULL, 0,
         2550, 'GMD', 'GMD 25.50 came in.', NULL, '2026-11-21', '2026-11-21')`,
      [id, account, `01a1f8ac-4b37-7417-9fed-11d78420f71${index}`],
    );
  }
});

after(() => service.stop());

test('a business reads the results of its own accounts, and nobody else’s', async () => {
  const { body } = await api.get('/v1/reconciliation?day=2026-11-20');
  const [day] = body['data'] as Record<string, unknown>[];
  assert.deepEqual(
    [day?.['network'], day?.['proved'], day?.['statement_closing'], day?.['differences']],
    ['wave-own', true, 625.5, { unknown: 1 }],
  );
  assert.deepEqual((await other.get('/v1/reconciliation')).body['data'], []);
  assert.equal((await api.get('/v1/reconciliation?day=2026-02-30')).status, 400);
});

test('differences are those of its own accounts, by account, day and state', async () => {
  const { body } = await api.get('/v1/reconciliation/differences?state=open&network=wave-own');
  const found = body['data'] as Record<string, unknown>[];
  assert.deepEqual(
    found.map((each) => [each['network'], each['class'], each['theirs'], each['account_id'], each['test_mode']]),
    [['wave-own', 'unknown', 25.5, owner.test.merchant.id, true]],
  );
  assert.equal(((await api.get('/v1/reconciliation/differences')).body['data'] as unknown[]).length, 1);
  assert.deepEqual((await other.get('/v1/reconciliation/differences')).body['data'], []);
});
