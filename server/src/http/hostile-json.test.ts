import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Compile } from 'typebox/schema';
import { Client } from 'undici';
import { exampleHeaders, exampleOf, type OwnRecords } from '../../../test/harness/api-examples.ts';
import { effort } from '../../../test/harness/effort.ts';
import {
  createContractClient,
  loadContract,
  type Contract,
  type JsonSchema,
  type Operation,
} from '../../../test/harness/openapi.ts';
import { createOwnRecords } from '../../../test/harness/own-records.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { hostileValues } from './hostile-values.corpus.ts';
import { nested, notJson, refusedJson } from '../kit/strict-json.corpus.ts';

// Every text and every value for every field would be sixty thousand requests. The parser does not know the field, and one rule
// checks all fields of one kind: so each field gets some of them, its neighbours others, and each text and each value is still
// tried in some fields.
const everyText = effort({ usual: 90, long: 1 });
const everyValue = effort({ usual: 60, long: 1 });
// One value of each JSON kind: a field gets some of them, its neighbour the others.
const everyKind = effort({ usual: 2, long: 1 });
const ofEachKind: readonly unknown[] = [-1, '', true, null, [], {}];

// Concurrent requests: enough to keep the service busy, few enough not to wait for database connections.
const pipelined = 8;

let service: TestService;
let business: TestBusiness;
let contract: Contract;
let client: Client;
let own: OwnRecords;

before(async () => {
  // Logging ten thousand refusals would take most of the test's time.
  service = await startService({ settings: { LOG_LEVEL: 'warn' } });
  business = await service.onboard();
  contract = await loadContract();
  client = new Client(service.url, { pipelining: pipelined });
  own = await createOwnRecords(createContractClient(contract, service.url, business.test.key));
});
after(async () => {
  await client.close();
  await service.stop();
});

/** A field of a body, by its path: `data`, `payment_methods`, `0`. */
interface Field {
  operation: Operation;
  way: string[];
}

/** Every field of every body of the API. */
function bodyFields(): Field[] {
  return contract.operations.flatMap((operation) =>
    operation.body === null ? [] : waysInto(operation.body).map((way) => ({ operation, way })),
  );
}

function waysInto(schema: JsonSchema): string[][] {
  const inside = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  if (inside.items) return [[], ...waysInto(inside.items).map((way) => ['0', ...way])];
  const ways = Object.entries(inside.properties ?? {}).flatMap(([name, property]) =>
    waysInto(property).map((way) => [name, ...way]),
  );
  // Free-form data is a field and has fields.
  return [[], ...ways, ...(inside.type === 'object' && ways.length === 0 ? [['free']] : [])];
}

/** The example's body with this text as the field's value, after all other fields. */
function bodyWith({ operation, way }: Field, text: string): string {
  return withText(exampleOf(operation.operationId).body?.(own) ?? {}, way, text);
}

function withText(body: unknown, way: readonly string[], text: string): string {
  const [name, ...rest] = way;
  if (name === undefined) return text;
  if (name === '0') return `[${withText(undefined, rest, text)}]`;
  const { [name]: inside, ...others } = (body ?? {}) as Record<string, unknown>;
  const fields = Object.entries(others).map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`);
  return `{${[...fields, `${JSON.stringify(name)}:${withText(inside, rest, text)}`].join(',')}}`;
}

interface Refusal {
  status: number;
  code: string;
  text: string;
}

async function send(
  { operation }: Field,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Refusal> {
  const example = exampleOf(operation.operationId);
  const response = await client.request({
    method: operation.method,
    path: operation.path.replace('{id}', own.endpointId),
    headers: { authorization: `Bearer ${business.test.key}`, ...exampleHeaders(example), ...headers },
    body,
    // Otherwise they would wait for each other.
    idempotent: true,
  });
  const text = await response.body.text();
  return { status: response.statusCode, code: String((JSON.parse(text) as { code?: string }).code), text };
}

/** Runs a bounded number at once. */
async function sendAll(requests: (() => Promise<void>)[]): Promise<void> {
  const rest = requests.values();
  await Promise.all(
    Array.from({ length: pipelined }, async () => {
      for (const request of rest) await request();
    }),
  );
}

/** All that the API has stored or changed. */
function everything(): Promise<unknown[]> {
  return asOwner(
    service,
    `SELECT (SELECT count(*)::integer FROM payment_intents) AS intents, (SELECT count(*)::integer FROM charges) AS charges,
       (SELECT count(*)::integer FROM events) AS events, (SELECT count(*)::integer FROM idempotency_keys) AS keys,
       (SELECT count(*)::integer FROM transfers) AS transfers, (SELECT count(*)::integer FROM ledger_holds) AS holds,
       (SELECT jsonb_agg(endpoints ORDER BY id) FROM webhook_endpoints AS endpoints) AS endpoints`,
  );
}

// Bodies that are too long are tested with the other limits.
const texts = [...notJson, ...refusedJson.map(([text]) => text), nested(33)].filter(
  // A lone surrogate cannot be encoded in UTF-8.
  (text) => text.length < 4_000 && text.isWellFormed(),
);

describe('a body', () => {
  it('with invalid or ambiguous JSON is refused, whatever the field', async () => {
    const fields = bodyFields();
    assert.ok(
      texts.length + hostileValues.length >= 300 && fields.length >= 25,
      `${texts.length} and ${hostileValues.length}`,
    );
    const before = await everything();
    const requests = fields.flatMap((field, position) =>
      texts
        .filter((_, index) => (position + index) % everyText === 0)
        .map((text) => async () => {
          // A missing body and an empty list are valid JSON.
          if (text.trim() === '' && ['', '0'].includes(field.way.at(-1) ?? '')) return;
          const response = await send(field, bodyWith(field, text));
          const description = `${field.operation.operationId} ${field.way.join('.')} with ${text.slice(0, 80)}`;
          assert.deepEqual(
            [response.status, response.code],
            [400, 'invalid_json'],
            `${description} answers ${response.text}`,
          );
        }),
    );
    await sendAll(requests);
    assert.deepEqual(await everything(), before);
  });

  it('with a value of the wrong kind is refused naming the field, and no value causes a 500', async () => {
    const intentsBefore = await countIntents();
    let created = 0;
    const requests = bodyFields().flatMap((field, position) => {
      const schema = Compile(field.operation.body ?? {});
      const sample = hostileValues.filter((_, index) => (position + index) % everyValue === 0);
      const kinds = ofEachKind.filter((_, index) => (position + index) % everyKind === 0);
      return [...kinds, ...sample].map((value) => async () => {
        const body = bodyWith(field, JSON.stringify(value));
        const response = await send(field, body);
        const description = `${field.operation.operationId} ${field.way.join('.')} with ${JSON.stringify(value).slice(0, 80)}`;
        if (response.status < 300) {
          assert.ok(
            schema.Check(JSON.parse(body)),
            `${description} is not as the document says, and answers ${response.text}`,
          );
          if (field.operation.operationId === 'createPayment') created += 1;
          return;
        }
        // 409 where the operation cannot be repeated.
        assert.ok([400, 404, 409].includes(response.status), `${description} answers ${response.text}`);
        const { errors } = JSON.parse(response.text) as { errors?: { path: string }[] };
        if (response.status === 400)
          assert.ok(errors?.[0]?.path !== undefined, `${description} answers ${response.text}`);
      });
    });
    const names = Object.getOwnPropertyNames(Object.prototype);
    await sendAll(requests);
    assert.equal(await countIntents(), intentsBefore + created);
    assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), names);
  });

  it('with an amount that is not whole bututs is refused, and no amount is stored as another', async () => {
    const [field] = bodyFields().filter(
      ({ operation, way }) => operation.operationId === 'createPayment' && way.join('.') === 'data.amount',
    );
    assert.ok(field);
    const before = await countIntents();
    const refused =
      '1.005 0.001 1e-3 10.999 0 0.0 -1 -10 0.99 1000000.01 1e7 1e400 9007199254740993 -0 "10" [10] null true {}';
    for (const text of refused.split(' ')) {
      const response = await send(field, bodyWith(field, text));
      assert.equal(response.status, 400, `${text} answers ${response.text}`);
      assert.equal(
        (JSON.parse(response.text) as { errors: { path: string }[] }).errors[0]?.path,
        'data.amount',
        response.text,
      );
    }
    assert.equal(await countIntents(), before);
    const accepted: [string, number][] = [
      ['1', 1],
      ['1.00', 1],
      ['1e0', 1],
      ['0.1e2', 10],
      ['10.5', 10.5],
      ['10.50', 10.5],
      ['1.13', 1.13],
      ['8.29', 8.29],
      ['999999.99', 999_999.99],
      ['1000000', 1_000_000],
      ['1e6', 1_000_000],
      ['64.1', 64.1],
      ['100e-2', 1],
    ];
    for (const [text, amount] of accepted) {
      const response = await send(field, bodyWith(field, text));
      assert.deepEqual(
        [response.status, (JSON.parse(response.text) as { amount: number }).amount],
        [201, amount],
        text,
      );
    }
  });

  it('that is not UTF-8, or has a wrong content type, is refused', async () => {
    const [field] = bodyFields();
    assert.ok(field);
    const text = '{"data":{"amount":10,"title":"é"}}';
    const before = await everything();
    const bytes: [string, Buffer, string, number][] = [
      ['Latin 1', Buffer.from(text, 'latin1'), 'application/json', 400],
      ['UTF-16', Buffer.from(text, 'utf16le'), 'application/json', 400],
      ['a byte order mark', Buffer.from(`\ufeff${text}`), 'application/json', 400],
      [
        'an overlong NUL',
        Buffer.concat([Buffer.from('{"data":{"amount":10,"title":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}}')]),
        'application/json',
        400,
      ],
      [
        'a surrogate in UTF-8',
        Buffer.concat([
          Buffer.from('{"data":{"amount":10,"title":"'),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from('"}}'),
        ]),
        'application/json',
        400,
      ],
      [
        'deep nesting',
        Buffer.from(`{"data":{"amount":10,"metadata":{"a":${nested(30_000)}}}}`),
        'application/json',
        400,
      ],
      ['another charset', Buffer.from(text), 'application/json; charset=iso-8859-1', 415],
      ['UTF-16 by name', Buffer.from(text), 'application/json;charset="utf-16"', 415],
      ['plain text', Buffer.from(text), 'text/plain', 415],
      ['a form', Buffer.from('data[amount]=10'), 'application/x-www-form-urlencoded', 415],
      ['parts', Buffer.from(text), 'multipart/form-data; boundary=x', 415],
      ['almost JSON', Buffer.from(text), 'application/jsonp', 415],
      ['JSON of another kind', Buffer.from(text), 'application/ld+json', 415],
      ['no kind', Buffer.from(text), '', 415],
    ];
    for (const [why, body, type, status] of bytes) {
      const response = await send(field, body, { 'content-type': type });
      assert.equal(response.status, status, `${why} answers ${response.text}`);
    }
    assert.deepEqual(await everything(), before);
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF8"']) {
      assert.equal((await send(field, text, { 'content-type': type })).status, 201, type);
    }
  });

  it('is returned with every character as it was sent', async () => {
    const api = createContractClient(contract, service.url, business.test.key);
    const title = 'Ŋ\u0301 \u202eשלום\u202c 💰👨‍👩‍👧 ﷺ <b>&amp;</b> \\ " \' \u200b\ufeff\uffff';
    const metadata = { 'ключ ŋ': title, list: [0.1, 1e20, -5, null, { deep: '\u2028' }], '': 'an empty name' };
    const { body } = await api.post('/v1/payments', { data: { amount: 10, title, description: title, metadata } });
    const found = await api.get(`/v1/payments/${String(body['payment_intent_id'])}`);
    assert.deepEqual(
      [found.body['title'], found.body['description'], found.body['metadata']],
      [title, title, metadata],
    );
  });
});

async function countIntents(): Promise<number> {
  const [row] = await asOwner<{ count: number }>(service, 'SELECT count(*)::integer AS count FROM payment_intents');
  return row?.count ?? 0;
}
