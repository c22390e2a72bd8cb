import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { apiRoutes } from '../app/api-routes.ts';
import { orNull, optional } from '../api/wire-types.ts';
import { defaultEventKinds } from '../events/kinds.ts';
import { fingerprintOf } from './fingerprint.ts';

interface Schema {
  anyOf?: readonly Schema[];
  type?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: readonly string[];
}

/** Each optional field of a body, with the values equivalent to omitting it; `path` names the objects around it. */
function* optionalFields(
  schema: Schema,
  path: readonly string[] = [],
): Generator<{ path: readonly string[]; value: unknown }> {
  for (const form of schema.anyOf ?? [schema]) {
    for (const [name, field] of Object.entries(form.properties ?? {})) {
      const here = [...path, name];
      yield* optionalFields(field, here);
      if (form.required?.includes(name) === true) continue;
      if (field.default !== undefined) yield { path: here, value: field.default };
      if ((field.anyOf ?? []).some(({ type }) => type === 'null')) yield { path: here, value: null };
    }
  }
}

/** `{data: {currency: 'GMD'}}` of `['data', 'currency']`. */
function bodyWith(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}

test('omitting a field equals stating its default, on every route with a key', () => {
  const tried = new Map<string, unknown[]>();
  for (const { method, path, body } of apiRoutes) {
    if (method !== 'POST' || body === undefined) continue;
    for (const field of optionalFields(body)) {
      const without = fingerprintOf(method, bodyWith(field.path.slice(0, -1), {}), body);
      const withIt = fingerprintOf(method, bodyWith(field.path, field.value), body);
      const name = `${path} ${field.path.join('.')}`;
      assert.deepEqual(withIt, without, `${name} ${JSON.stringify(field.value)}`);
      assert.notDeepEqual(fingerprintOf(method, bodyWith(field.path, 'something else'), body), without, name);
      tried.set(name, [...(tried.get(name) ?? []), field.value]);
    }
  }
  for (const [name, value] of [
    ['/v1/payments data.currency', 'GMD'],
    ['/v1/payments data.skip_url_validation', false],
    ['/v1/payments data.metadata', {}],
    ['/v1/payments data.payment_methods', ['wallet']],
    ['/v1/payments/preview data.currency', 'GMD'],
    ['/v1/transfers currency', 'GMD'],
    ['/v1/transfers metadata', {}],
    ['/v1/transfers/fees currency', 'GMD'],
    ['/v1/payment-links data.currency', 'GMD'],
    ['/v1/payment-links data.metadata', {}],
    ['/v1/customers metadata', {}],
    ['/v1/customers config.distinct', false],
    ['/v1/customers config', {}],
    ['/v1/webhook-endpoints description', ''],
    ['/v1/webhook-endpoints enabled_events', defaultEventKinds],
    ['/v1/webhook-endpoints/:id/rotate-secret overlap_hours', 24],
    ['/v1/events/resend status', 'undelivered'],
    ['/v1/events/resend dry_run', false],
    ['/v1/transactions/refund amount', null],
    ['/v1/transactions/refund money_returned', false],
  ] as const) {
    assert.ok(
      tried.get(name)?.some((known) => JSON.stringify(known) === JSON.stringify(value)),
      name,
    );
  }
});

const fingerprintHex = (body: object, schema: TSchema) => fingerprintOf('POST', body, schema).toString('hex');

test('a field allowed inside data and beside it means the same in either place, on every route', () => {
  const tried: string[] = [];
  for (const { method, path, body } of apiRoutes) {
    if (method !== 'POST' || body === undefined) continue;
    const { properties = {} } = body as Schema;
    const of = (sent: object) => fingerprintHex(sent, body);
    for (const name of Object.keys(properties['data']?.properties ?? {})) {
      if (!Object.hasOwn(properties, name)) continue;
      const inside = of({ data: { amount: 10, [name]: 'one' } });
      assert.equal(of({ data: { amount: 10 }, [name]: 'one' }), inside, `${path} ${name}`);
      assert.equal(of({ data: { amount: 10, [name]: null }, [name]: 'one' }), inside, `${path} ${name}`);
      assert.equal(of({ data: { amount: 10, [name]: 'one' }, [name]: 'one' }), inside, `${path} ${name}`);
      assert.equal(of({ data: { amount: 10, [name]: 'one' }, [name]: null }), inside, `${path} ${name}`);
      assert.notEqual(of({ data: { amount: 10, [name]: 'one' }, [name]: 'two' }), inside, 'which is refused');
      assert.notEqual(of({ data: { amount: 10 }, [name]: 'two' }), inside);
      tried.push(`${path} ${name}`);
    }
  }
  assert.deepEqual(tried, [
    '/v1/payments sub_account',
    '/v1/payments sub_account_group',
    '/v1/payments/preview sub_account',
    '/v1/payments/preview sub_account_group',
  ]);
});

test('a body with an optional data wrapper means the same with and without it', () => {
  const tried: string[] = [];
  for (const { method, path, body } of apiRoutes) {
    if (method !== 'POST' || body === undefined || !('anyOf' in body)) continue;
    const fields = { name: 'Awa Ceesay' };
    assert.equal(fingerprintHex({ data: fields }, body), fingerprintHex(fields, body), path);
    assert.notEqual(fingerprintHex({ data: { name: 'Awa' } }, body), fingerprintHex(fields, body), path);
    tried.push(path);
  }
  assert.deepEqual(tried, ['/v1/sub-accounts', '/v1/sub-account-groups']);
});

test('an alias, a number in place of text and an ignored field make no difference', () => {
  const schemaOf = (operationId: string) => {
    const found = apiRoutes.find(({ method, path }) => method === 'POST' && path === operationId)?.body;
    assert.ok(found, operationId);
    return found;
  };
  const subAccount = (body: object) => fingerprintHex(body, schemaOf('/v1/sub-accounts'));
  const named = subAccount({ name: 'Awa Ceesay', account_number: '7012345' });
  assert.equal(subAccount({ business_name: 'Awa Ceesay', account_number: '7012345' }), named);
  assert.equal(subAccount({ data: { business_name: 'Awa Ceesay', account_number: 7_012_345 } }), named);
  for (const other of [
    { business_name: 'Awa', account_number: '7012345' },
    { name: 'Awa Ceesay', business_name: 'Awa Ceesay', account_number: '7012345' },
    { name: 'Awa Ceesay', account_number: 7_012_346 },
  ]) {
    assert.notEqual(subAccount(other), named, JSON.stringify(other));
  }
  const payment = (data: object) => fingerprintHex({ data }, schemaOf('/v1/payments'));
  assert.equal(payment({ amount: 10, from_sdk: 'shop 1.2' }), payment({ amount: 10 }));
  assert.notEqual(payment({ amount: '10' }), payment({ amount: 10 }));
});

test('a merchant’s own data makes a difference, whatever the schema’s defaults are', () => {
  const schema = Type.Object({
    amount: Type.Number({ default: 0 }),
    currency: optional(Type.String(), { default: 'GMD' }),
    metadata: optional(Type.Record(Type.String(), Type.Unknown()), { default: {} }),
    note: orNull(Type.String()),
  });
  const of = (body: object) => fingerprintHex(body, schema);
  assert.equal(of({ amount: 1, note: 'x', currency: 'GMD', metadata: {} }), of({ note: 'x', amount: 1 }));
  for (const other of [
    { amount: 1, note: 'x', metadata: { currency: 'GMD' } },
    { amount: 1, note: 'x', metadata: { a: null } },
    { amount: 1, note: 'x', currency: 'gmd' },
    { amount: 1, note: null },
    { amount: 0, note: 'x' },
    { note: 'x' },
    { amount: 1, note: 'x', __proto__: null, constructor: 'GMD' },
  ]) {
    assert.notEqual(of(other), of({ amount: 1, note: 'x' }), JSON.stringify(other));
  }
});
