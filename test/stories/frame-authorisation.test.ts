import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemRandom } from '../../server/src/kit/random.ts';
import { crc32Base62 } from '../../server/src/kit/base62.ts';
import { createApiKeyText, hmacOfApiKey } from '../../server/src/merchants/api-key.ts';
import { call, examples, unknownRecords as unknown, type OwnRecords } from '../harness/api-examples.ts';
import { createApiClient, type ApiResponse, type ApiClient } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { createContractClient, loadContract, type Contract, type Operation } from '../harness/openapi.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { startService, type TestBusiness, type TestMerchant, type TestService } from '../harness/service.ts';
import { asOwner, dumpTables } from '../harness/tables.ts';

// Each route gets every n-th key, its neighbours the others, and always another merchant's.
const everyKey = effort({ usual: 4, long: 1 });
const everyPair = effort({ usual: 3, long: 1 });

let service: TestService;
let contract: Contract;
let business: TestBusiness;
let stranger: TestBusiness;
/** The business's records in each environment. */
let own: { test: OwnRecords; live: OwnRecords };

before(async () => {
  // Each route gets many invalid keys.
  service = await startService({ settings: { RATE_LIMIT_KEYLESS: '0' } });
  contract = await loadContract();
  business = await service.onboard('Kairaba Books');
  stranger = await service.onboard('Serekunda Shoes');
  const test = await createOwnRecords(clientOf(business.test.key));
  own = { test, live: await createLiveRecords(test) };
  await service.app.drain();
});
after(() => service.stop());

function clientOf(key: string): ApiClient {
  return createContractClient(contract, service.url, key);
}

/** Without a live network, the live payment, transfer and sub-account are copies of the test ones. */
async function createLiveRecords(test: OwnRecords): Promise<OwnRecords> {
  const api = clientOf(business.live.key);
  const customer = await api.post('/v1/customers', { name: 'Awa Ceesay' });
  const endpoint = await api.post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/live' });
  const link = await api.post('/v1/payment-links', { data: { title: 'School fees' } });
  const terminal = await api.post('/v1/virtual-terminals', { name: 'Till 1', chat_numbers: ['7012345'] });
  const events = await api.get('/v1/events?event=customer.created&limit=1');
  const [event] = events.body['data'] as Record<string, unknown>[];
  const chargeId = '01a1f8ac-4b37-7417-9fed-11d78420f716';
  const transferId = '01a1f8ac-4b37-7417-9fed-11d78420f719';
  const paidChargeId = '01a1f8ac-4b37-7417-9fed-11d78420f742';
  const refundId = '01a1f8ac-4b37-7417-9fed-11d78420f743';
  const subAccountId = '01a1f8ac-4b37-7417-9fed-11d78420f722';
  const unusedSubAccountId = '01a1f8ac-4b37-7417-9fed-11d78420f731';
  const intentId = '01a1f8ac-4b37-7417-9fed-11d78420f751';
  const intentSecret = 'b'.repeat(64);
  const copy = (table: string, id: string, changes: object) =>
    asOwner(
      service,
      `INSERT INTO ${table} SELECT copied.* FROM ${table}, jsonb_populate_record(${table}, $1::jsonb) AS copied
       WHERE ${table}.id = $2`,
      [JSON.stringify({ merchant_id: business.live.merchant.id, ...changes }), id],
    );
  const checkoutToken = `${business.live.merchant.shortId}${'b'.repeat(22)}`;
  await copy('payment_intents', test.intentId, {
    id: intentId,
    intent_secret: intentSecret,
    checkout_token: checkoutToken,
  });
  await copy('charges', test.chargeId, { id: chargeId, intent_id: intentId });
  await copy('charges', test.paidChargeId, { id: paidChargeId, intent_id: intentId, attempt: 2 });
  await copy('transfers', test.transferId, { id: transferId });
  await copy('transfers', test.refundId, { id: refundId });
  await copy('refunds', test.refundId, { id: refundId, charge_id: paidChargeId });
  await copy('sub_accounts', test.subAccountId, { id: subAccountId });
  await copy('sub_accounts', test.unusedSubAccountId, { id: unusedSubAccountId });
  const members = [{ sub_account: subAccountId, percentage: 10 }];
  const group = await api.post('/v1/sub-account-groups', { name: 'Rent', members });
  return {
    intentId,
    intentSecret,
    chargeId,
    paidChargeId,
    refundId,
    transferId,
    customerId: String(customer.body['id']),
    subAccountId,
    unusedSubAccountId,
    subAccountGroupId: String(group.body['id']),
    paymentLinkId: String(link.body['id']),
    terminalId: String(terminal.body['id']),
    endpointId: String(endpoint.body['id']),
    eventId: String(event?.['id']),
  };
}

/** The response without what differs each time. */
function withoutRequestId({ status, text, body }: ApiResponse): string {
  return `${status} ${text.replace(String(body['request_id']), '')}`;
}

const namingOperations = () => contract.operations.filter(({ operationId }) => examples[operationId]?.names !== null);

/** The business's records, without what workers change by themselves: of a transfer, its money. */
async function recordsOfBusiness(): Promise<unknown> {
  const ids = [business.test, business.live].map(({ merchant }) => merchant.id);
  const tables = `payment_intents charges ledger_holds webhook_endpoints customers sub_accounts sub_account_groups
    sub_account_group_members payment_links virtual_terminals events idempotency_keys api_keys`.split(/\s+/);
  const where = 'WHERE merchant_id = ANY ($1)';
  return Promise.all(tables.map((table) => asOwner(service, `SELECT * FROM ${table} ${where}`, [ids])));
}

describe('the table of routes', () => {
  it('has a row for every operation, and the document an operation for every route that is served', () => {
    const documented = contract.operations.map(({ operationId }) => operationId);
    assert.deepEqual(Object.keys(examples).toSorted(), documented.toSorted());
    const served = servedPaths(service.app.server.printRoutes({ commonPrefix: false }));
    const paths = served.filter((path) => path.startsWith('/v1')).map((path) => path.replaceAll(/:(\w+)/g, '{$1}'));
    const known = new Set(contract.operations.map(({ path }) => path));
    assert.deepEqual(paths.toSorted(), [...known].toSorted());
  });
});

describe('a request', () => {
  it('without a valid key gets the same 401 from every route; a malformed header gets an explanation', async () => {
    const { key } = business.test;
    const body = key.slice(0, -6).replace('sk_test_', 'sk_live_');
    const revoked = createApiKeyText(systemRandom, true);
    await revokeStraightAway(revoked);
    const headers: Record<string, string | undefined> = {
      'no key': undefined,
      'an empty one': '',
      'no scheme': key,
      'another scheme': `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      'the scheme alone': 'Bearer',
      'two keys': `Bearer ${key} ${key}`,
      'a mistyped key': `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      'a cut key': `Bearer ${key.slice(0, -1)}`,
      'a key that was never given out': `Bearer ${createApiKeyText(systemRandom, true)}`,
      'the other environment’s prefix': `Bearer ${body}${crc32Base62(body)}`,
      'a revoked key': `Bearer ${revoked}`,
      'a webhook secret': `Bearer ${business.test.webhookSecret}`,
      'a hostile key': `Bearer sk_test_${"'; --".padEnd(38, 'x')}`,
    };
    const before = await recordsOfBusiness();
    const responses = new Set<string>();
    for (const [operationIndex, operation] of contract.operations.entries()) {
      for (const [caseIndex, [description, authorization]] of Object.entries(headers).entries()) {
        if (authorization !== undefined && (operationIndex + caseIndex) % everyKey !== 0) continue;
        const response = await call(withHeader(authorization), operation, own.test);
        contract.check({ method: operation.method, path: operation.path }, response);
        const code = authorization === undefined ? 'api_key_missing' : 'api_key_invalid';
        const called = `${operation.operationId} ${description}`;
        assert.deepEqual([response.status, response.body['code']], [401, code], called);
        const form = /^Bearer \S+$/.test(authorization ?? '') ? 'a key' : 'no key';
        if (code === 'api_key_invalid') responses.add(`${form} ${withoutRequestId(response)}`);
      }
    }
    assert.equal(responses.size, 2, [...responses].join('\n'));
    assert.match([...responses].join('\n'), /^no key .*Write the header as: Authorization: Bearer <key>\./m);
    assert.deepEqual(await recordsOfBusiness(), before);
  });

  it('with another merchant’s or environment’s key gets the same 404 as for no record', async () => {
    const pairs: [string, TestMerchant, OwnRecords][] = [
      ['another merchant in test', stranger.test, own.test],
      ['another merchant in live', stranger.live, own.live],
      ['another merchant’s live key for test records', stranger.live, own.test],
      ['its own live key for test records', business.live, own.test],
      ['its own test key for live records', business.test, own.live],
    ];
    const before = await recordsOfBusiness();
    for (const [operationIndex, operation] of namingOperations().entries()) {
      for (const [caseIndex, [description, { key }, records]] of pairs.entries()) {
        if (caseIndex > 0 && (operationIndex + caseIndex) % everyPair !== 0) continue;
        const foreign = await call(clientOf(key), operation, records);
        const missing = await call(clientOf(key), operation, unknown);
        assert.equal(foreign.status, 404, `${operation.operationId} with ${description}: ${foreign.text}`);
        assert.equal(withoutRequestId(foreign), withoutRequestId(missing), `${operation.operationId} ${description}`);
      }
    }
    assert.deepEqual(await recordsOfBusiness(), before);
  });

  it('that refers to a foreign record is refused like one that does not exist', async () => {
    const referring = contract.operations.filter(({ operationId }) => examples[operationId]?.refersTo !== undefined);
    assert.ok(referring.length > 0);
    const pairs: [TestMerchant, OwnRecords][] = [
      [stranger.test, own.test],
      [stranger.live, own.live],
      [business.live, own.test],
      [business.test, own.live],
    ];
    const before = await recordsOfBusiness();
    for (const operation of referring) {
      for (const [{ key }, records] of pairs) {
        const foreign = await call(clientOf(key), operation, records);
        const missing = await call(clientOf(key), operation, unknown);
        assert.equal(foreign.status, 400, `${operation.operationId}: ${foreign.text}`);
        assert.equal(withoutRequestId(foreign), withoutRequestId(missing), operation.operationId);
      }
    }
    assert.deepEqual(await recordsOfBusiness(), before);
  });

  it('that names no record works with every key, on that merchant’s records alone', async () => {
    const others = contract.operations.filter(
      (operation) => !namingOperations().includes(operation) && examples[operation.operationId]?.refersTo === undefined,
    );
    assert.ok(others.length >= 6);
    // This service has no live network.
    const takesNetwork = ['createPayment', 'createTransfer', 'quoteTransferFee', 'createSubAccount'];
    const before = await recordsOfBusiness();
    const { endpoints, ...foreign } = { ...own.test, endpoints: business.test.endpointId };
    for (const operation of others) {
      for (const { key } of [stranger.test, stranger.live]) {
        const response = await call(clientOf(key), operation, own.test);
        const isUnable = key === stranger.live.key && takesNetwork.includes(operation.operationId);
        if (isUnable) assert.equal(response.body['code'], 'network_not_available', response.text);
        else assert.ok(response.status < 300, response.text);
        for (const id of [endpoints, ...Object.values(foreign), ...Object.values(own.live)]) {
          assert.ok(!response.text.includes(id), operation.operationId);
        }
      }
    }
    assert.deepEqual(await recordsOfBusiness(), before);
  });

  it('with the key in the address is refused, with and without another in the header', async () => {
    const { key } = business.test;
    const keyless = withHeader(undefined);
    for (const name of ['api_key', 'key', 'token', 'access_token', 'authorization', 'secret_key']) {
      assert.equal((await keyless.get(`/v1/payments?${name}=${key}`)).status, 401, name);
      assert.equal((await clientOf(key).get(`/v1/payments?${name}=${key}`)).status, 400, name);
    }
    assert.equal((await keyless.get(`/v1/payments/verify?intent_secret=${own.test.intentSecret}`)).status, 401);
    const inBody = await keyless.post('/v1/payments', { data: { amount: 10 }, api_key: key });
    assert.equal(inBody.status, 401);
    assert.ok(service.logLines.every((line) => !line.includes(key)));
  });

  it('with the right key is served by every route', async () => {
    const api = clientOf(business.test.key);
    // Deletions run last, one for each record. A waiver needs a debt: settlement/ tests it.
    const ending = [
      'cancelPayment',
      'cancelPaymentByPatch',
      'cancelTransfer',
      'deleteCustomer',
      'deleteSubAccount',
      'deleteSubAccountGroup',
      'deletePaymentLink',
      'deleteSinglePaymentLink',
      'deleteVirtualTerminal',
      'deleteWebhookEndpoint',
    ];
    // These two end what another request has ended already.
    const again = ['cancelPaymentByPatch', 'deleteSinglePaymentLink'];
    const isEnding = ({ operationId }: Operation) => ending.includes(operationId);
    for (const operation of [
      ...contract.operations.filter((one) => !isEnding(one) && one.operationId !== 'waiveSubAccountDebt'),
      ...contract.operations.filter(isEnding),
    ]) {
      const records = again.includes(operation.operationId) ? await createOwnRecords(api) : own.test;
      const response = await call(api, operation, records);
      const successes = [...operation.responses.keys()].filter((status) => status < 300);
      assert.ok(successes.includes(response.status), `${operation.operationId}: ${response.text}`);
    }
  });
});

describe('a key of the other environment', () => {
  it('lists none of this one’s records', async () => {
    const [test, live] = [clientOf(business.test.key), clientOf(business.live.key)];
    const lists = contract.operations.filter(
      // A list without `offset` has movements of one account, not records; these businesses have no accounts of their own to
      // reconcile, which server/src/reconciliation/routes.test.ts has.
      ({ method, path, query }) =>
        method === 'GET' &&
        !path.includes('{') &&
        Object.hasOwn(query, 'offset') &&
        !path.startsWith('/v1/reconciliation'),
    );
    assert.ok(lists.length >= 4);
    for (const { path } of lists) {
      const ids = async (api: ApiClient) => {
        const { body } = await api.get(`${path}?limit=100`);
        return (body['data'] as Record<string, unknown>[]).map((row) => row['payment_intent_id'] ?? row['id']);
      };
      const [tested, lived] = [await ids(test), await ids(live)];
      assert.ok(tested.length > 0 && lived.length > 0, path);
      assert.deepEqual(
        tested.filter((id) => lived.includes(id)),
        [],
        path,
      );
      for (const [api, isTest] of [
        [test, true],
        [live, false],
      ] as const) {
        const rows = (await api.get(`${path}?limit=100`)).body['data'] as Record<string, unknown>[];
        assert.ok(
          rows.every((row) => row['test_mode'] === isTest),
          path,
        );
      }
    }
  });

  it('in live mode never reaches a simulated network', async () => {
    const api = clientOf(business.live.key);
    for (const network of ['wave', 'afrimoney', 'qmoney', 'aps']) {
      const paymentBody = { amount: 10, network, account_number: '7000001' };
      const payment = await api.post('/v1/payments', { data: paymentBody });
      const transfer = { ...paymentBody, beneficiary_name: 'Awa Ceesay' };
      const transferred = await api.post('/v1/transfers', transfer, { 'idempotency-key': network });
      for (const response of [payment, transferred]) {
        assert.deepEqual([response.status, response.body['code']], [400, 'network_not_available'], network);
      }
    }
    const paid = { amount: 10, network: 'wave', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
    await clientOf(business.test.key).post('/v1/transfers', paid, { 'idempotency-key': 'paid' });
    await service.app.drain();
    const tables = await dumpTables(service);
    for (const table of ['simulator.sessions', 'simulator.payouts']) {
      const rows = tables.get(table) ?? '';
      assert.ok(rows.includes(business.test.merchant.shortId), table);
      assert.ok(!rows.includes(business.live.merchant.shortId), table);
    }
  });
});

/** A plain client with this header, or with none. */
function withHeader(authorization: string | undefined): ApiClient {
  const send: ApiClient['send'] = async (method, path, init = {}) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { ...init.headers, ...(authorization === undefined ? {} : { authorization }) },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  const { post } = createApiClient(service.url, '');
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body) =>
      body === undefined
        ? post(path)
        : send('POST', path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  };
}

/** The addresses in the server's printed route tree, whose levels are indented by four characters. */
function servedPaths(tree: string): string[] {
  const segments: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, branches, segment, methods] = /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \((.+)\))?$/.exec(line) ?? [];
    if (branches === undefined || segment === undefined) return [];
    segments.splice(branches.length / 4, Infinity, segment);
    return methods === undefined ? [] : [segments.join('')];
  });
}

async function revokeStraightAway(text: string): Promise<void> {
  await asOwner(
    service,
    `INSERT INTO api_keys (merchant_id, id, key_hmac, pepper_version, last_four, name, created_at, revoked_at)
     VALUES ($1, '01a1f8ac-4b37-7417-9fed-11d78420f717', $2, 1, 'xxxx', 'Revoked', '2026-11-20', '2026-11-20')`,
    [business.test.merchant.id, hmacOfApiKey(service.secrets.pepper, text)],
  );
}
