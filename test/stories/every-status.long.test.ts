import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { keyScopes } from '../../server/src/api/key-scope.ts';
import { exampleHeaders, exampleOf, unknownRecords, type OwnRecords } from '../harness/api-examples.ts';
import { createApiClient, type ApiClient, type ApiResponse } from '../harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createContractClient, loadContract, type Contract, type Operation } from '../harness/openapi.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';
import { asOwner, whileLocked } from '../harness/tables.ts';
import { overTcp, startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';

// Each operation is led to each of its documented statuses, and each response is held against the document. A new operation takes
// part by its row in `examples`; a new status needs a way to it here.

const json = { 'content-type': 'application/json' };

let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let strict: TestService;
let business: TestBusiness;
let contract: Contract;
let own: OwnRecords;
/** `createPayment 201` */
const seen = new Set<string>();

before(async () => {
  database = await createTestDatabase();
  const url = new URL(database.appUrl);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  const proxied = { ...database, appUrl: overTcp(database.appUrl, proxy.port) };
  service = await startService({ database: proxied, isPatient: false, settings: { RATE_LIMIT_KEYLESS: '0' } });
  strict = await startService({ database: proxied, settings: { RATE_LIMIT_KEYLESS: '1' } });
  contract = await loadContract();
  business = await service.onboard();
  own = await createOwnRecords(apiOf(business.test.key));
  await service.app.drain();
});

after(async () => {
  await strict.stop();
  await service.stop();
  await proxy.close();
  await database.drop();
});

function apiOf(key: string, { url }: TestService = service): ApiClient {
  return createContractClient(contract, url, key);
}

/** Sends an operation's example, or what replaces parts of it. */
async function send(
  api: ApiClient,
  operation: Operation,
  changes: { records?: OwnRecords; query?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<ApiResponse> {
  const { operationId, method, path } = operation;
  const example = exampleOf(operationId);
  const { records = own, query = example.query?.(records) ?? '' } = changes;
  const body = changes.body ?? (example.body && JSON.stringify(example.body(records)));
  const response = await api.send(method, path.replace('{id}', records[example.names ?? 'intentId']) + query, {
    ...(body === undefined ? {} : { body }),
    headers: { ...exampleHeaders(example), ...changes.headers },
  });
  seen.add(`${operationId} ${response.status}`);
  return response;
}

/** Leads every operation that documents a status to it. */
async function toStatus(status: number, request: (operation: Operation) => Promise<ApiResponse>): Promise<void> {
  const operations = contract.operations.filter(({ responses }) => responses.has(status));
  for (const operation of operations) {
    const response = await request(operation);
    assert.equal(response.status, status, `${operation.operationId}: ${response.text}`);
  }
}

const takesBody = ({ method }: Operation): boolean => method !== 'GET';

test('401: without a key', () => toStatus(401, (operation) => send(createApiClient(service.url, ''), operation)));

test('400: with an unknown parameter, or with a body that is no JSON', () =>
  toStatus(400, (operation) => {
    const headers = { ...json, 'idempotency-key': randomUUID() };
    const wrong = takesBody(operation) ? { body: '{', headers } : { query: '?no_such=1' };
    return send(apiOf(business.test.key), operation, wrong);
  }));

test('403: with a key of other scopes', async () => {
  const keys = new Map<string, string>();
  for (const scope of keyScopes) {
    const others = keyScopes.filter((each) => each !== scope);
    keys.set(scope, await service.newKey(business.test.merchant, others));
  }
  await toStatus(403, (operation) => send(apiOf(keys.get(operation.scope) ?? ''), operation));
});

test('404: of a record that nobody has', () =>
  toStatus(404, (operation) => send(apiOf(business.test.key), operation, { records: unknownRecords })));

test('413 and 415: with too large a body, or one of another type', async () => {
  const api = apiOf(business.test.key);
  await toStatus(413, (operation) => send(api, operation, { body: ' '.repeat(70_000), headers: json }));
  await toStatus(415, (operation) => send(api, operation, { body: 'a', headers: { 'content-type': 'text/plain' } }));
});

test('429: without a key, too often', () =>
  toStatus(429, async (operation) => {
    const keyless = createApiClient(strict.url, '');
    for (let tries = 1; ; tries += 1) {
      const response = await send(keyless, operation);
      if (response.status === 429 || tries === 500) return response;
    }
  }));

test('409: while the first request with the key is running, and where the state does not allow it', async () => {
  const api = apiOf(business.test.key);
  const isOnce = ({ responses }: Operation): boolean => responses.has(422);
  await whileLocked(service, { text: 'LOCK TABLE idempotency_keys' }, () =>
    Promise.all(
      contract.operations.filter(isOnce).map(async (operation) => {
        const { status, text } = await send(api, operation, { headers: { 'idempotency-key': randomUUID() } });
        assert.equal(status, 409, `${operation.operationId}: ${text}`);
      }),
    ),
  );
  const paid = await api.get(`/v1/transactions/${own.paidChargeId}`);
  const ended = { ...own, intentId: String(paid.body['payment_intent_id']), endpointId: business.test.endpointId };
  await toStatus(409, async (operation) =>
    isOnce(operation) ? ({ status: 409, text: '' } as ApiResponse) : send(api, operation, { records: ended }),
  );
});

/** So that the sub-account owes what the merchant advances. */
async function makeDebt(api: ApiClient, { subAccountId, paidChargeId }: OwnRecords): Promise<void> {
  const payout = await api.post(`/v1/sub-accounts/${subAccountId}/payouts`, {}, { 'idempotency-key': randomUUID() });
  assert.equal(payout.status, 201, payout.text);
  await service.app.drain();
  const refund = await api.post('/v1/transactions/refund', { reference: paidChargeId });
  assert.equal(refund.status, 201, refund.text);
  await service.app.drain();
}

// Later ones end what earlier ones need; these need what another one has ended or spent already.
const again = ['waiveSubAccountDebt', 'cancelPaymentByPatch', 'deleteSinglePaymentLink'];
const isEnding = ({ operationId }: Operation): boolean => /^(?:cancel|delete)/.test(operationId);

test('2xx, and 422 for another request with the same key', async () => {
  const api = apiOf(business.test.key);
  const { operations } = contract;
  const waive = operations.filter(({ operationId }) => operationId === 'waiveSubAccountDebt');
  const others = operations.filter((operation) => !waive.includes(operation));
  for (const operation of [...others.filter((each) => !isEnding(each)), ...waive, ...others.filter(isEnding)]) {
    const { operationId, responses } = operation;
    const records = again.includes(operationId) ? await createOwnRecords(api) : own;
    if (waive.includes(operation)) await makeDebt(api, records);
    const key = randomUUID();
    const request = { records, headers: responses.has(422) ? { 'idempotency-key': key } : {} };
    const response = await send(api, operation, request);
    assert.ok(response.status < 300, `${operationId}: ${response.text}`);
    if (!responses.has(422)) continue;
    await asOwner(service, `UPDATE idempotency_keys SET fingerprint = '\\x00' WHERE key = $1`, [key]);
    const reused = await send(api, operation, request);
    assert.equal(reused.status, 422, `${operationId}: ${reused.text}`);
  }
});

test('200 of a customer who exists already', async () => {
  const [operation] = contract.operations.filter(({ operationId }) => operationId === 'createCustomer');
  assert.ok(operation);
  const body = JSON.stringify({ name: 'Awa', phone: '7098765', config: { distinct: true } });
  const statuses = [];
  for (let time = 0; time < 2; time += 1) {
    statuses.push((await send(apiOf(business.test.key), operation, { body })).status);
  }
  assert.deepEqual(statuses, [201, 200]);
});

test('500: after a fault of ours', async () => {
  const keys: string[] = [];
  for (const _ of contract.operations) keys.push(await service.newKey(business.test.merchant));
  await asOwner(service, 'ALTER TABLE api_keys RENAME COLUMN key_hmac TO key_hmac_lost');
  await toStatus(500, (operation) => send(apiOf(keys.pop() ?? ''), operation));
  await asOwner(service, 'ALTER TABLE api_keys RENAME COLUMN key_hmac_lost TO key_hmac');
});

test('503: without the database', async () => {
  await proxy.cut();
  await toStatus(503, (operation) => send(apiOf(business.test.key), operation));
  await proxy.restore();
});

test('every operation has answered with each of its documented statuses', (context) => {
  const documented = contract.operations.flatMap(({ operationId, responses }) =>
    [...responses.keys()].map((status) => `${operationId} ${status}`),
  );
  assert.ok(documented.length > 600);
  assert.deepEqual(
    documented.filter((each) => !seen.has(each)),
    [],
  );
  context.diagnostic(`${documented.length} statuses of ${contract.operations.length} operations`);
});
