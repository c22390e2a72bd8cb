import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exampleHeaders, exampleOf, type OwnRecords } from '../../../test/harness/api-examples.ts';
import { effort } from '../../../test/harness/effort.ts';
import { createOwnRecords } from '../../../test/harness/own-records.ts';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import {
  createContractClient,
  loadContract,
  type Contract,
  type JsonSchema,
  type Operation,
} from '../../../test/harness/openapi.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { dumpTables } from '../../../test/harness/tables.ts';

// How many fields one response names.
const atOnce = effort({ usual: 20, long: 1 });

let service: TestService;
let contract: Contract;
let api: ApiClient;
let own: OwnRecords;

before(async () => {
  service = await startService();
  const business = await service.onboard();
  contract = await loadContract();
  api = createContractClient(contract, service.url, business.test.key);
  own = await createOwnRecords(api);
});
after(() => service.stop());

function refusedFields({ body }: ApiResponse): string[] {
  return ((body['errors'] ?? []) as { path: string }[]).map(({ path }) => path).toSorted();
}

/** Every field name in any response of the API. */
function responseFieldNames(): string[] {
  const names = (schema: JsonSchema): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [name, ...names(property)]),
    ...(schema.items ? names(schema.items) : []),
    ...(schema.anyOf ?? []).flatMap(names),
  ];
  const schemas = contract.operations.flatMap(({ responses }) => [...responses.values()].map(({ schema }) => schema));
  return [...new Set(schemas.flatMap(names))];
}

/** The objects of a body that accept no unknown fields: the body itself, and `data` in it. */
function closedObjects(body: JsonSchema, isWrappable: boolean): { way: string[]; known: string[] }[] {
  const data = isWrappable ? body : body.properties?.['data'];
  return [
    { way: [], known: [...Object.keys(body.properties ?? {}), ...(isWrappable ? ['data'] : [])] },
    ...(data ? [{ way: ['data'], known: Object.keys(data.properties ?? {}) }] : []),
  ];
}

function send(operation: Operation, way: string[], fields: Record<string, unknown>) {
  const { operationId, method, path, isWrappable } = operation;
  const row = exampleOf(operationId);
  const bare = (row.body?.(own) ?? {}) as Record<string, Record<string, unknown>>;
  const example = isWrappable && way.length > 0 ? { data: bare } : bare;
  const body = way.length === 0 ? { ...example, ...fields } : { ...example, data: { ...example['data'], ...fields } };
  return api.send(method, path.replace('{id}', own.endpointId), {
    body: JSON.stringify(body),
    headers: exampleHeaders(row),
  });
}

describe('a field that exists in responses only', () => {
  it('cannot be set by any request: it is refused by name, and nothing changes', async () => {
    const names = responseFieldNames();
    for (const name of ['status', 'transaction_fee', 'account_id', 'test_mode', 'createdAt', 'secret', 'expires_at']) {
      assert.ok(names.includes(name), name);
    }
    const secretNames = [
      'merchant_id',
      'merchantId',
      'fee',
      'balance',
      'amount_minor',
      'checkout_token',
      'id',
      'is_admin',
    ];
    await service.app.drain();
    const before = await dumpTables(service);
    for (const operation of contract.operations) {
      const { body, isWrappable } = operation;
      for (const { way, known } of body === null ? [] : closedObjects(body, isWrappable)) {
        const unknown = [...new Set([...names, ...secretNames])].filter((name) => !known.includes(name));
        for (let from = 0; from < unknown.length; from += atOnce) {
          const some = unknown.slice(from, from + atOnce);
          const response = await send(operation, way, Object.fromEntries(some.map((name) => [name, true])));
          const called = `${operation.operationId}: ${response.text}`;
          assert.deepEqual([response.status, response.body['code']], [400, 'unknown_field'], called);
          assert.deepEqual(refusedFields(response), some.map((name) => [...way, name].join('.')).toSorted(), called);
        }
      }
    }
    // The worker may change other tables.
    const after = await dumpTables(service);
    for (const table of [
      'public.payment_intents',
      'public.ledger_holds',
      'public.webhook_endpoints',
      'public.sub_accounts',
      'public.sub_account_groups',
      'public.merchants',
      'public.idempotency_keys',
    ]) {
      assert.equal(after.get(table), before.get(table), table);
    }
  });
});

describe('a number that was sent as text', () => {
  it('is refused showing the number without quotes, unless it may be a phone number', async () => {
    for (const [amount, hint] of [
      ['100', ': send 100, not "100"'],
      ['450.50', ': send 450.50, not "450.50"'],
      ['7001234', ''],
      ['much', ''],
    ]) {
      const response = await api.post('/v1/payments', { data: { amount } });
      assert.equal(response.body['message'], `data.amount must be a number${hint}.`, response.text);
    }
  });
});

describe('an unknown field', () => {
  it('is named with the nearest known one', async () => {
    const slips: [string, string[], string, string | null][] = [
      ['createPayment', ['data'], 'amout', 'amount'],
      ['createPayment', ['data'], 'currancy', 'currency'],
      ['createPayment', ['data'], 'retrun_url', 'return_url'],
      ['createPayment', ['data'], 'returnUrl', 'return_url'],
      ['createPayment', ['data'], 'customerEmail', 'customer_email'],
      ['createPayment', ['data'], 'meta_data', 'metadata'],
      ['createPayment', ['data'], 'payment_method', 'payment_methods'],
      ['createPayment', ['data'], 'Amount', 'amount'],
      ['createPayment', ['data'], 'wholly_unlike', null],
      ['createPayment', [], 'dat', 'data'],
      ['verifyPayment', [], 'intentSecret', 'intent_secret'],
      ['createWebhookEndpoint', [], 'enabledEvents', 'enabled_events'],
      ['updateWebhookEndpoint', [], 'descripton', 'description'],
      ['rotateWebhookSecret', [], 'overlap_hour', 'overlap_hours'],
    ];
    for (const [operationId, way, name, nearest] of slips) {
      const operation = contract.operations.find((candidate) => candidate.operationId === operationId);
      assert.ok(operation);
      const response = await send(operation, way, { [name]: 1 });
      const path = [...way, name].join('.');
      const hint = nearest === null ? '' : ` Did you mean ${[...way, nearest].join('.')}?`;
      assert.equal(response.body['message'], `${path} is not a known field.${hint}`);
    }
  });

  it('comes first if it is a mistyped required field, which is not reported as missing too', async () => {
    const response = await api.post('/v1/payments', { data: { titel: 'Rice', ammount: 100, customer_email: 1 } });
    assert.deepEqual([response.status, response.body['code']], [400, 'unknown_field'], response.text);
    const sentence = 'data.ammount is not a known field. Did you mean data.amount?';
    assert.equal(response.body['message'], `${sentence} 2 more are in errors.`);
    assert.deepEqual(refusedFields(response), ['data.ammount', 'data.customer_email', 'data.titel']);
  });

  it('that belongs inside or outside data is refused once, saying so', async () => {
    const bare = await api.post('/v1/payments', { amount: 100, title: 'Rice' });
    assert.deepEqual([bare.status, bare.body['code']], [400, 'unknown_field'], bare.text);
    assert.equal(bare.body['message'], 'Wrap the fields in data: {"data":{"amount":100}}.');
    assert.deepEqual(refusedFields(bare), ['amount']);
    const unrepeated = await api.post('/v1/payments', { title: 'Rice' });
    assert.match(unrepeated.text, /\{\\"data\\":\{\\"title\\":…\}\}/, 'text is not repeated');
    const wrapped = await api.post('/v1/transfers', { data: { amount: 100 } }, { 'idempotency-key': 'wrapped' });
    assert.deepEqual([wrapped.status, wrapped.body['code']], [400, 'unknown_field'], wrapped.text);
    assert.equal(wrapped.body['message'], 'Send the fields without the data wrapper.');
    assert.deepEqual(refusedFields(wrapped), ['data']);
  });

  it('is reported with up to twenty others, and a hostile name is truncated', async () => {
    const [operation] = contract.operations;
    assert.ok(operation);
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`field_${index}`, 1]));
    const response = await send(operation, ['data'], many);
    assert.deepEqual([response.status, (response.body['errors'] as unknown[]).length], [400, 20]);
    const long = await send(operation, ['data'], { ['n'.repeat(20_000)]: 1 });
    assert.ok(long.status === 400 && long.text.length < 1_000, `${long.text.length} characters`);
  });

  it('in the query is refused by every route', async () => {
    for (const { operationId, method, path, body, query } of contract.operations) {
      const example = exampleOf(operationId);
      const address = path.replace('{id}', own[example.names ?? 'intentId']) + (example.query?.(own) ?? '?');
      const names = ['nonsense', 'api_key', 'access_token', '__proto__', 'constructor', 'limit[]', 'Limit'];
      for (let from = 0; from < names.length; from += atOnce) {
        const some = names.slice(from, from + atOnce);
        assert.ok(some.every((name) => !Object.hasOwn(query, name)));
        const added = some.map((name) => `&${name}=1`).join('');
        const response = await api.send(method, `${address}${added}`.replace('?&', '?'), {
          headers: exampleHeaders(example),
          ...(body === null ? {} : { body: JSON.stringify(example.body?.(own)) }),
        });
        const called = `${operationId}: ${response.text}`;
        assert.deepEqual([response.status, response.body['code']], [400, 'unknown_field'], called);
        assert.deepEqual(refusedFields(response), some.toSorted(), called);
      }
    }
    const slip = await api.get('/v1/payments?limt=5');
    assert.equal(slip.body['message'], 'limt is not a known field. Did you mean limit?');
  });
});
