import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiResponse, type ApiClient } from '../../../test/harness/api-client.ts';
import { countRows } from '../../../test/harness/tables.ts';
import { startTransferStory, type TransferStory } from '../../../test/harness/transfer-story.ts';

type Body = Record<string, unknown>;

let story: TransferStory;
let charge: Body;

before(async () => {
  story = await startTransferStory();
  charge = await paid();
});

after(async () => {
  await story.verify();
  await story.stop();
});

async function paid(network = 'aps', number = '7000001'): Promise<Body> {
  return story.transaction(await story.paySettled(number, { network, amount: 100 }));
}

function refund(body: unknown, api: ApiClient = story.api): Promise<ApiResponse> {
  return api.send('POST', '/v1/transactions/refund', {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

/** Status, code and the first field that is named. */
function refusal(response: ApiResponse): string {
  const [field] = (response.body['errors'] ?? []) as { path: string; message: string }[];
  if (field) assert.match(field.message, /\w.*\.( Did you mean [\w.]+\?)?$/);
  return `${response.status} ${String(response.body['code'])} ${field?.path ?? 'no field'}`;
}

function traces(): Promise<unknown> {
  const tables = ['refunds', 'refund_parts', 'transfers', 'ledger_movements', 'ledger_holds', 'events', 'charge_notes'];
  return countRows(story.service, story.merchant.merchant.id, ...tables);
}

test('bad input is refused naming the field, and nothing is stored', async () => {
  const before = await traces();
  const reference = charge['reference'];
  const cases: [unknown, string][] = [
    [{}, '400 invalid_request reference'],
    [{ amount: 10 }, '400 invalid_request reference'],
    [{ reference: '' }, '400 invalid_request reference'],
    [{ reference: 7 }, '400 invalid_request reference'],
    [{ reference: null }, '400 invalid_request reference'],
    [{ reference: 'x'.repeat(101) }, '400 invalid_request reference'],
    [{ reference: 'TX-20261120-101800-7KQ2M9XA' }, '400 invalid_request reference'],
    [{ reference: "'; DROP TABLE refunds; --" }, '400 invalid_request reference'],
    [{ reference: '\u200f\ud83d\ude00' }, '400 invalid_request reference'],
    [{ reference: '01a1f8ac-4b37-7417-9fed-11d78420f714' }, '400 invalid_request reference'],
    [{ reference: charge['payment_intent_id'] }, '400 invalid_request reference'],
    [{ reference, amount: 0 }, '400 invalid_request amount'],
    [{ reference, amount: -1 }, '400 invalid_request amount'],
    [{ reference, amount: 0.001 }, '400 invalid_request amount'],
    [{ reference, amount: '10' }, '400 invalid_request amount'],
    [{ reference, amount: 100.01 }, '400 refund_not_possible amount'],
    [{ reference, amount: 1e12 }, '400 refund_not_possible amount'],
    [{ reference, amout: 1 }, '400 unknown_field amout'],
    [{ reference, route: 'payout' }, '400 unknown_field route'],
  ];
  for (const [body, expected] of cases) assert.equal(refusal(await refund(body)), expected, JSON.stringify(body));
  assert.deepEqual(await traces(), before);
});

test('another merchant’s transaction or refund is answered like one that does not exist', async () => {
  const { body: made } = await refund({ reference: charge['reference'], amount: 1 });
  const other = await story.forAnotherMerchant();
  for (const reference of [charge['reference'], charge['transaction_reference'], charge['id']]) {
    assert.equal(refusal(await refund({ reference }, other.api)), '400 invalid_request reference');
  }
  assert.equal(refusal(await other.api.get(`/v1/refunds/${String(made['id'])}`)), '404 not_found no field');
  assert.deepEqual((await other.api.get('/v1/refunds')).body['data'], []);
  for (const id of [charge['id'], 'no-id', '01a1f8ac-4b37-7417-9fed-11d78420f714']) {
    assert.equal(refusal(await story.api.get(`/v1/refunds/${String(id)}`)), '404 not_found no field');
  }
});

test('a refund of an unpaid transaction is refused with the reason', async () => {
  const pending = await story.transaction(await story.paySettled('7000004', { network: 'aps' }));
  const response = await refund({ reference: pending['reference'] });
  assert.equal(refusal(response), '400 refund_not_possible reference');
  assert.match(String(response.body['message']), /not been paid yet/);
  const declined = await story.transaction(await story.paySettled('7000002', { network: 'aps' }));
  assert.match(String((await refund({ reference: declined['reference'] })).body['message']), /is failed/);
});

test('a refund that the balance does not cover is refused, and its idempotency key remembers that', async () => {
  const poor = await story.forAnotherMerchant();
  const rich = await poor.payoutBalance();
  const intentId = await poor.paySettled('7000001', { network: 'aps', amount: 100 });
  const { reference } = await poor.transaction(intentId);
  for (const amount of [rich, 100]) await poor.transferSettled('7000001', { amount });
  const headers = { 'idempotency-key': 'poor' };
  const response = await poor.api.post('/v1/transactions/refund', { reference }, headers);
  assert.equal(refusal(response), '400 insufficient_balance no field');
  // The stored response has the first request's id, which the contract's client does not expect.
  const plain = createApiClient(story.service.url, poor.merchant.key);
  const again = await plain.post('/v1/transactions/refund', { reference }, headers);
  assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [response.text, 'true']);
  assert.deepEqual((await poor.api.get('/v1/refunds')).body['data'], []);
});

test('refunds are listed newest first, in pages, filtered by status, charge, time and text', async () => {
  const other = await story.forAnotherMerchant();
  const made: Body[] = [];
  const charges: Body[] = [];
  charges.push(await other.transaction(await other.paySettled('7000001', { network: 'aps', amount: 100 })));
  // Refunds to this number never arrive.
  const intentId = await other.paySettled('7000004', { network: 'aps', amount: 100 });
  await other.onPhone(String((await other.transaction(intentId))['id']), 'approve');
  charges.push(await other.transaction(intentId));
  for (const { reference } of charges) {
    for (const amount of [1, 2]) {
      made.unshift((await refund({ reference, amount }, other.api)).body);
      await other.advance(1_000);
    }
  }
  const idsOf = async (query: string) => {
    const response = await other.api.get(`/v1/refunds${query}`);
    assert.equal(response.status, 200, response.text);
    return (response.body['data'] as Body[]).map(({ id }) => id);
  };
  const ids = made.map(({ id }) => id);
  assert.deepEqual(await idsOf(''), ids);
  assert.deepEqual(await idsOf('?limit=1&offset=2'), [ids[2]]);
  assert.deepEqual(await idsOf(`?limit=2&cursor=${String(ids[1])}`), ids.slice(2));
  assert.deepEqual(await idsOf(`?charge=${String(charges[0]?.['id'])}`), ids.slice(2));
  assert.deepEqual(await idsOf(`?term=${String(charges[1]?.['transaction_reference'])}`), ids.slice(0, 2));
  assert.deepEqual(await idsOf(`?search=${String(made[3]?.['reference'])}`), [ids[3]]);
  assert.deepEqual(await idsOf(`?from=${String(made[0]?.['createdAt'])}`), [ids[0]]);
  assert.deepEqual(await idsOf(`?to=${String(made[3]?.['createdAt'])}`), [ids[3]]);
  await other.settle();
  assert.deepEqual(await idsOf('?status=pending'), ids.slice(0, 2));
  assert.deepEqual(await idsOf('?status=completed'), ids.slice(2));
  assert.deepEqual(await idsOf('?status=failed'), []);
  const { body } = await other.api.get('/v1/refunds?limit=3');
  assert.deepEqual(body['meta'], { total: 4, limit: 3, offset: 0, next_cursor: ids[2] });
  assert.equal(refusal(await other.api.get('/v1/refunds?status=reversed')), '400 invalid_request status');
  assert.equal(refusal(await other.api.get('/v1/refunds?charge=7')), '400 invalid_request charge');
});

test('a refund is not listed, found or cancelled by the transfers’ routes', async () => {
  const { body: made } = await refund({ reference: charge['reference'], amount: 1 });
  const id = String(made['id']);
  assert.equal(refusal(await story.api.get(`/v1/transfers/${id}`)), '404 not_found no field');
  assert.equal(refusal(await story.api.post(`/v1/transfers/${id}/cancel`)), '404 not_found no field');
  const { body } = await story.api.get('/v1/transfers?limit=100');
  assert.ok((body['data'] as Body[]).every((transfer) => transfer['id'] !== id));
});
