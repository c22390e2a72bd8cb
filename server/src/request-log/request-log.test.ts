import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { asOwner, countWaiting } from '../../../test/harness/tables.ts';
import { ListReader } from '../api/list-reader.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { systemRandom } from '../kit/random.ts';
import { bodyLengthMax, maskedBody, maskedQuery } from './masked-body.ts';
import { getRequest, listRequests } from './read-requests.ts';
import { RequestLog, type SeenRequest } from './request-log.ts';
import { purgeRequests } from './retention.ts';

const clock = new SettableClock(new Date('2026-11-22T07:36:00Z'));
let service: TestService;
let business: TestBusiness;
/** What a log of the test waits for before it commits. */
let beforeCommit = async (): Promise<void> => {};

before(async () => {
  service = await startService({ clock });
  business = await service.onboard();
});

after(() => service.stop());

function newLog(limits?: { requestsMax: number; charactersMax: number }) {
  const dropped = { count: 0 };
  const newId = () => uuidV7(clock, systemRandom);
  const observeDropped = () => void (dropped.count += 1);
  const withTransaction: Database['withTransaction'] = (body) =>
    service.db.withTransaction(async (tx) => {
      const result = await body(tx);
      await beforeCommit();
      return result;
    });
  const { db: real } = service;
  const db: Database = {
    ...{ rows: (statement) => real.rows(statement), row: (statement) => real.row(statement) },
    ...{ run: (statement) => real.run(statement), dedicatedClient: () => real.dedicatedClient() },
    ...{ close: () => real.close(), waiting: 0, withTransaction },
  };
  return { log: new RequestLog({ db, clock, newId, observeDropped, ...(limits && { limits }) }), dropped };
}

function seen(merchantId: string, request: Partial<SeenRequest> = {}): SeenRequest {
  return {
    ...{ merchantId, requestId: 'req_1', keyId: uuidV7(clock, systemRandom), method: 'POST', path: '/v1/payments' },
    ...{
      query: '',
      statusCode: 201,
      durationMs: 3,
      idempotencyKey: null,
      requestBody: { a: 1 },
      requestBytes: 7,
      responseText: '{"b":2}',
    },
    ...request,
  };
}

async function readAll(merchantId: string) {
  return Promise.all((await listAll(merchantId)).map(({ id }) => getRequest(service.db, merchantId, id)));
}

async function listAll(merchantId: string) {
  const page = { limit: 100, offset: 0, before: null };
  return (await listRequests(new ListReader(service.db), merchantId, page, {})).rows;
}

test('a request through the API is logged once, without the secret and the number that it held', async () => {
  const { merchant, key } = business.test;
  const api = createApiClient(service.url, key);
  const body = { data: { amount: 100, network: 'aps', account_number: '7000001', description: `my key is ${key}` } };
  const sent = await api.post('/v1/payments', body, { 'idempotency-key': 'order-1' });
  assert.equal(sent.status, 201);
  const endpoint = await api.post('/v1/webhook-endpoints', { url: 'https://shop.example/hooks' });
  const secret = String(endpoint.body['secret']);
  assert.match(secret, /^wh_/);
  assert.equal((await api.post('/v1/payments', { data: {} })).status, 400);
  for (const path of ['/v1/transfers', '/v1/transfers', '/v1/customers?search=7000001']) await api.get(path);
  await service.app.drain();
  const rows = await listAll(merchant.id);
  assert.equal(rows.length, 5, 'the second GET of the same list is a repetition');
  const full = await Promise.all(rows.map(({ id }) => getRequest(service.db, merchant.id, id)));
  const text = JSON.stringify(full);
  for (const hidden of [key, secret, '7000001']) assert.ok(!text.includes(hidden), hidden);
  const first = full.find(({ idempotencyKey }) => idempotencyKey === 'order-1');
  assert.equal(first?.requestId, sent.headers.get('x-request-id'));
  assert.match(first?.requestBody ?? '', /"account_number":"\.\.\.\. 0001"/);
  const refusal = full.find(({ statusCode }) => statusCode === 400);
  assert.equal(refusal?.errorCode, 'invalid_request');
  for (const { method, responseBody } of full) assert.equal(responseBody === null, method === 'GET');
  assert.equal((await listAll(business.live.merchant.id)).length, 0);
});

test('a search is logged without what was searched for: no deletion of a customer finds a name in it', () => {
  const query = maskedQuery('limit=10&term=Awa%20Ceesay&search=%2B220%20701%202345&status=failed');
  assert.equal(query, 'limit=10&term=••••&search=••••&status=failed');
});

test('no cut leaves a part of a secret or a number, wherever the bound falls', () => {
  const key = `sk_live_${'Ab3'.repeat(12)}`;
  for (let padding = bodyLengthMax - 60; padding <= bodyLengthMax; padding += 1) {
    const body = { text: 'x'.repeat(padding), note: key, password: 'Ab3Ab3Ab3', msisdn: '+220 700 1234' };
    const text = maskedBody(body, { isError: false });
    assert.ok(text.length <= bodyLengthMax);
    assert.doesNotMatch(text, /Ab3|sk_live|700/, String(padding));
  }
});

test('a full memory drops and counts, by number and by size', async () => {
  const { merchant } = await service.onboard().then(({ test: own }) => own);
  const { log, dropped } = newLog({ requestsMax: 3, charactersMax: 1_000_000 });
  for (let each = 0; each < 10; each += 1) log.note(seen(merchant.id));
  assert.equal(dropped.count, 7);
  while ((await log.write()) > 0);
  assert.equal((await listAll(merchant.id)).length, 3);
  const large = newLog({ requestsMax: 3, charactersMax: 50_000 });
  large.log.note(seen(merchant.id, { responseText: JSON.stringify('x'.repeat(60_000)) }));
  large.log.note(seen(merchant.id, { requestBody: { a: 'x' }, requestBytes: 60_000 }));
  assert.equal(large.dropped.count, 2, 'by size, of the response or of the request');
});

test('large bodies are written a megabyte at a time, so that masking them delays nobody', async () => {
  const { merchant } = await service.onboard().then(({ test: own }) => own);
  const { log } = newLog();
  for (let each = 0; each < 20; each += 1) log.note(seen(merchant.id, { requestBytes: 60_000 }));
  const batches: number[] = [];
  for (let count = await log.write(); count > 0; count = await log.write()) batches.push(count);
  assert.deepEqual(batches, [16, 4]);
  assert.equal((await listAll(merchant.id)).length, 20);
});

/** A customer, a payment of theirs, and requests about both that wait to be written. */
async function waitingRequests() {
  const { merchant, key } = (await service.onboard()).test;
  const api = createApiClient(service.url, key);
  const customer = String((await api.post('/v1/customers', { name: 'Awa', phone: '7012345' })).body['id']);
  const { body } = await api.post('/v1/payments', { data: { amount: 100, customer } });
  const id = String(body['payment_intent_id']);
  await service.app.drain();
  const { log } = newLog();
  const requestBody = { name: 'Awa' };
  log.note(seen(merchant.id, { requestId: 'req_customer', path: `/v1/customers/${customer}`, query: 'search=Awa' }));
  log.note(seen(merchant.id, { requestId: 'req_payment', requestBody, responseText: JSON.stringify({ id }) }));
  log.note(seen(merchant.id, { requestId: 'req_other', requestBody }));
  const written = async () => {
    const rows = (await readAll(merchant.id)).filter(({ requestId }) =>
      /^req_(customer|payment|other)$/.test(requestId),
    );
    return rows.map((row) => [row.requestId, row.query, row.requestBody, row.responseBody]).toSorted();
  };
  return { merchant, api, customer, log, written };
}

const withoutCustomer = [
  ['req_customer', null, null, null],
  ['req_other', null, '{"name":"Awa"}', '{"b":2}'],
  ['req_payment', null, null, null],
];

test('what was sent about a customer who is deleted before it is written is stored without it', async () => {
  const { api, customer, log, written } = await waitingRequests();
  assert.ok((await api.send('DELETE', `/v1/customers/${customer}`)).status < 300);
  await log.write();
  assert.deepEqual(await written(), withoutCustomer);
});

test('what is written while its customer is being deleted is stored without what was sent, at once', async () => {
  const { merchant, customer, log, written } = await waitingRequests();
  const [isLocked, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const text = 'SELECT id FROM customers WHERE merchant_id = $1 AND id = $2 FOR UPDATE';
  const deletion = service.db.withTransaction(async (tx) => {
    await tx.row({ name: 'test_lock_for_deletion', text, values: [merchant.id, customer] });
    isLocked.resolve();
    await mayCommit.promise;
  });
  await isLocked.promise;
  await log.write();
  mayCommit.resolve();
  await deletion;
  assert.deepEqual(await written(), withoutCustomer);
});

test('a deletion waits for what is being written about its customer, and erases it', async () => {
  const { api, customer, log, written } = await waitingRequests();
  const [isWritten, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  beforeCommit = async () => {
    isWritten.resolve();
    await mayCommit.promise;
  };
  const writing = log.write();
  await isWritten.promise;
  // A lock is waited for a second, and a busy machine may stop for longer: a merchant sends what was refused with 503 again.
  const deleteCustomer = async (): Promise<number> => {
    const { status } = await api.send('DELETE', `/v1/customers/${customer}`);
    return status === 503 ? deleteCustomer() : status;
  };
  const deletion = deleteCustomer();
  try {
    await eventually('the deletion waits', async () => (await countWaiting(service.db)) > 0);
  } finally {
    mayCommit.resolve();
    beforeCommit = async () => {};
  }
  await writing;
  assert.equal(await deletion, 200);
  assert.deepEqual(await written(), withoutCustomer);
});

async function purge(): Promise<void> {
  while ((await purgeRequests(service)) > 0);
}

test('requests are stored for 30 days; what changed something stays for 13 months, without bodies', async () => {
  const { merchant } = (await service.onboard()).test;
  const { log } = newLog();
  const start = clock.now();
  const query = 'term=Awa';
  const each = [
    { requestId: 'req_created', path: `/v1/payments/${merchant.id}`, query },
    { requestId: 'req_failed', statusCode: 503 },
    { requestId: 'req_refused', statusCode: 400 },
    { requestId: 'req_read', method: 'GET', statusCode: 200 },
    { requestId: 'req_not_found', method: 'GET', statusCode: 404 },
  ];
  for (const request of each) log.note(seen(merchant.id, request));
  await log.write();
  const requestIds = async () => (await listAll(merchant.id)).map(({ requestId }) => requestId).toSorted();
  clock.set(addMs(start, 30 * dayMs - 1_000));
  await purge();
  assert.equal((await requestIds()).length, each.length);
  assert.ok((await readAll(merchant.id)).some(({ requestBody }) => requestBody !== null));
  clock.set(addMs(start, 30 * dayMs + 1_000));
  log.note(seen(merchant.id, { requestId: 'req_later' }));
  await log.write();
  await purge();
  assert.deepEqual(await requestIds(), ['req_created', 'req_failed', 'req_later']);
  const bodies = (await readAll(merchant.id)).map((row) => [
    row.requestId,
    row.query,
    row.requestBody,
    row.responseBody,
  ]);
  assert.deepEqual(bodies.toReversed(), [
    ['req_created', null, null, null],
    ['req_failed', null, null, null],
    ['req_later', null, '{"a":1}', '{"b":2}'],
  ]);
  const [trace] = (await readAll(merchant.id)).filter(({ requestId }) => requestId === 'req_created');
  assert.deepEqual([trace?.method, trace?.statusCode, trace?.pathObjectId], ['POST', 201, merchant.id]);
  clock.set(addMs(start, 400 * dayMs + 1_000));
  await purge();
  assert.deepEqual(await requestIds(), ['req_later']);
});

test('requests of more than one batch are trimmed, each once', async () => {
  const { merchant } = (await service.onboard()).test;
  const { log } = newLog();
  for (let count = 0; count < 1_100; count += 1)
    log.note(seen(merchant.id, { method: count % 2 === 0 ? 'POST' : 'PUT' }));
  while ((await log.write()) > 0);
  clock.set(addMs(clock.now(), 31 * dayMs));
  let batches = 0;
  while ((await purgeRequests(service)) > 0) batches += 1;
  assert.equal(batches, 3);
  const text = `SELECT count(*)::int AS count FROM request_log WHERE merchant_id = $1 AND request_body IS NULL`;
  assert.deepEqual(await asOwner(service, text, [merchant.id]), [{ count: 1_100 }]);
});
