import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { createApiClient, type ApiResponse } from '../../../test/harness/api-client.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { rawHead, sendRaw } from '../../../test/harness/raw-request.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { fingerprintOf } from './fingerprint.ts';
import { isReplay, startIdempotencyWorld } from './idempotency-world.corpus.ts';

const { service, business, api, newKey, sendText, pay, countRecords } = await startIdempotencyWorld();
after(() => service.stop());

describe('a request that comes again with its Idempotency-Key', () => {
  it('has one effect and one response, byte for byte, however often it is sent', async () => {
    const before = await countRecords();
    const key = newKey();
    const responses: ApiResponse[] = [];
    for (let time = 1; time <= 100; time += 1) {
      responses.push(await pay({ amount: 450, network: 'wave', account_number: '7000004' }, key));
    }
    const [first] = responses;
    assert.equal(first?.status, 201);
    assert.deepEqual([...new Set(responses.map(({ status, text }) => `${status} ${text}`))], [`201 ${first.text}`]);
    assert.deepEqual([isReplay(first), responses.filter(isReplay).length], [false, 99]);
    const now = await countRecords();
    assert.equal(now.payment_intents, before.payment_intents + 1);
    assert.equal(now.charges, before.charges + 1);
    assert.equal(now.idempotency_keys, before.idempotency_keys + 1);
    await service.app.drain();
    const sessions = await asOwner(service, 'SELECT id FROM simulator.sessions WHERE account = $1', [
      business.test.merchant.shortId,
    ]);
    assert.equal(sessions.length, 1, 'the network was asked once');
  });

  it('is the same request if only its JSON notation differs', async () => {
    const key = newKey();
    const first = await sendText('{"data":{"amount":10,"title":"Café","metadata":{"a":1,"b":[1,2]}}}', key);
    assert.equal(first.status, 201, first.text);
    const spellings = [
      '{"data":{"title":"Café","metadata":{"b":[1,2],"a":1},"amount":10}}',
      '{ "data" : {\n\t"amount": 10.00 , "title":"Café","metadata":{"a":1,"b":[1,2]} } }\r\n',
      '{"data":{"amount":1e1,"title":"Caf\\u00e9","metadata":{"a":1.0,"b":[1.00,2]}}}',
      '{"data":{"amount":10.0,"\\u0074itle":"Café","metadata":{"a":1,"b":[1,2]}}}',
    ];
    for (const text of spellings) {
      const response = await sendText(text, key);
      assert.deepEqual([response.status, response.text, isReplay(response)], [201, first.text, true], text);
    }
  });

  it('is the same request under every spelling of its address', async () => {
    const { body } = await pay({ amount: 10 }, newKey());
    const id = String(body['payment_intent_id']);
    const key = newKey();
    const cancel = (path: string) => api.post(path, undefined, { 'idempotency-key': key });
    assert.equal(isReplay(await cancel(`/v1/payments/${id}/cancel`)), false);
    for (const path of [`/v1/payments/${id.toUpperCase()}/cancel`, `/v1/p%61yments/${id}/canc%65l`]) {
      const plain = createApiClient(service.url, business.test.key);
      const again = await plain.post(path, undefined, { 'idempotency-key': key });
      assert.deepEqual([again.status, isReplay(again)], [200, true], path);
    }
    const withEmptyBody = await api.post(`/v1/payments/${id}/cancel`, {}, { 'idempotency-key': key });
    assert.deepEqual([withEmptyBody.status, isReplay(withEmptyBody)], [200, true]);
  });

  it('is refused with 422 and has no effect if any field of its body differs in meaning', async () => {
    const data = {
      amount: 450,
      return_url: 'http://127.0.0.1:9/thanks',
      cancel_url: 'http://127.0.0.1:9/cart',
      callback_url: 'http://127.0.0.1:9/events',
      network: 'wave',
      account_number: '7000004',
      skip_url_validation: false,
      metadata: { order: '17', lines: [1, 2], deep: { a: null } },
      title: 'Books',
      description: 'Two of them',
      customer_name: 'Awa Ceesay',
      customer_email: 'awa@shop.example',
      customer_phone: '+220 701 2345',
      payment_methods: ['wave', 'aps'],
    };
    const changes: Record<string, unknown[]> = {
      amount: [450.01, 45],
      return_url: ['http://127.0.0.1:9/Thanks', null],
      cancel_url: ['http://127.0.0.1:9/cart?'],
      callback_url: ['http://127.0.0.1:9/events/'],
      network: ['aps'],
      account_number: ['7000005', '700 0004'],
      skip_url_validation: [true],
      metadata: [
        {},
        { ...data.metadata, order: 17 },
        { ...data.metadata, lines: [2, 1] },
        { ...data.metadata, deep: { a: false } },
      ],
      title: ['books', 'Books '],
      description: ['Two of them.'],
      customer_name: ['Awa Ceesay\u200f'],
      customer_email: ['awa@shop.example.gm'],
      customer_phone: ['+2207012345'],
      payment_methods: [['aps', 'wave'], ['wave']],
    };
    const key = newKey();
    assert.equal((await pay(data, key)).status, 201);
    const before = await countRecords();
    for (const [name, values] of Object.entries(changes)) {
      for (const value of values) {
        const response = await pay({ ...data, [name]: value }, key);
        assert.deepEqual(
          [response.status, response.body['code']],
          [422, 'idempotency_key_reused'],
          `${name}: ${response.text}`,
        );
      }
    }
    assert.deepEqual(await countRecords(), before);
    assert.equal(isReplay(await pay(data, key)), true, 'the first response is still stored');
  });

  it('is the same request if it states the default of an omitted field', async () => {
    const key = newKey();
    const first = await pay({ amount: 45 }, key);
    const spelled = {
      currency: 'GMD',
      skip_url_validation: false,
      metadata: {},
      payment_methods: ['wallet'],
      title: null,
    };
    const again = await pay({ amount: 45, ...spelled }, key);
    assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true]);
    assert.equal((await pay({ amount: 45, payment_methods: ['wave'] }, key)).status, 422);
  });

  it('is the same request with its sub-account inside `data`, beside it, and in both places', async () => {
    const subAccount = { name: 'Awa Ceesay', percentage: 10, settlement_code: 'wave', account_number: '7012345' };
    const made = await Promise.all([subAccount, subAccount].map((body) => api.post('/v1/sub-accounts', body)));
    const [one, other] = made.map(({ body }) => String(body['id']));
    const key = newKey();
    const send = (body: object) => sendText(JSON.stringify(body), key);
    const first = await send({ data: { amount: 45 }, sub_account: one });
    assert.equal(first.status, 201, first.text);
    for (const body of [
      { data: { amount: 45, sub_account: one } },
      { data: { amount: 45, sub_account: one }, sub_account: one },
      { data: { amount: 45, sub_account: null }, sub_account: one },
    ]) {
      const again = await send(body);
      assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true], JSON.stringify(body));
    }
    for (const body of [
      { data: { amount: 45, sub_account: one }, sub_account: other },
      { data: { amount: 45, sub_account: other } },
      { data: { amount: 45 } },
    ]) {
      assert.equal((await send(body)).status, 422, JSON.stringify(body));
    }
  });

  it('matches a key that an earlier version stored with defaults in its fingerprint', async () => {
    const [key, data] = [newKey(), { amount: 45, currency: 'GMD' }];
    const first = await pay(data, key);
    await asOwner(service, 'UPDATE idempotency_keys SET fingerprint = $1 WHERE merchant_id = $2 AND key = $3', [
      fingerprintOf('POST', { data }),
      business.test.merchant.id,
      key,
    ]);
    const again = await pay(data, key);
    assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true]);
    assert.equal((await pay({ ...data, amount: 46 }, key)).status, 422);
  });

  it('is another request for another merchant, in the other environment, and at another address', async () => {
    const stranger = await service.onboard('Serekunda Shoes');
    const key = newKey();
    const headers = { 'idempotency-key': key };
    const clients = [business.test.key, business.live.key, stranger.test.key, stranger.live.key].map((secret) =>
      createApiClient(service.url, secret),
    );
    const paid = await Promise.all(
      clients.map((client) => client.post('/v1/customers', { name: 'Awa Ceesay' }, headers)),
    );
    for (const response of paid) assert.deepEqual([response.status, isReplay(response)], [201, false]);
    assert.equal(new Set(paid.map(({ body }) => body['id'])).size, 4);
    const id = String((await pay({ amount: 5 }, newKey())).body['id']);
    const cancelled = await api.post(`/v1/payments/${id}/cancel`, undefined, headers);
    assert.deepEqual([cancelled.status, isReplay(cancelled)], [200, false]);
    const previewed = await api.post('/v1/payments/preview', { data: { amount: 5 } }, headers);
    assert.deepEqual([previewed.status, isReplay(previewed)], [200, false]);
  });

  it('gets the response that its client lost', async () => {
    const before = await countRecords();
    const key = newKey();
    const body = '{"data":{"amount":77}}';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = rawHead('POST', '/v1/payments', [
      `Authorization: Bearer ${business.test.key}`,
      `Idempotency-Key: ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]);
    // The client disconnects only after its request was processed; otherwise there would be no response to lose.
    socket.write(head + body);
    await eventually(
      'the payment is there',
      async () => (await countRecords()).payment_intents > before.payment_intents,
    );
    socket.destroy();
    const again = await sendText(body, key);
    assert.deepEqual([again.status, isReplay(again)], [201, true]);
    assert.equal((await countRecords()).payment_intents, before.payment_intents + 1);
  });
});

describe('requests of one merchant that come at the same time', () => {
  it('share commits, and each has its own effect and its own response', async () => {
    const before = await countRecords();
    const keyed = Array.from({ length: 40 }, (_, index) => ({ amount: index + 1, key: newKey() }));
    const others = Array.from({ length: 40 }, (_, index) => index + 41);
    const sent = await Promise.all([
      ...keyed.map(({ amount, key }) => pay({ amount }, key)),
      ...others.map((amount) => api.post('/v1/payments', { data: { amount } })),
    ]);
    assert.deepEqual(
      sent.map(({ status, body }) => [status, body['amount']]),
      Array.from({ length: 80 }, (_, index) => [201, index + 1]),
    );
    const now = await countRecords();
    assert.deepEqual(
      [
        now.payment_intents - before.payment_intents,
        now.events - before.events,
        now.idempotency_keys - before.idempotency_keys,
      ],
      [80, 80, 40],
    );
    const again = await Promise.all(keyed.map(({ amount, key }) => pay({ amount }, key)));
    assert.deepEqual(
      again.map(({ text }) => text),
      sent.slice(0, 40).map(({ text }) => text),
    );
    assert.ok(again.every(isReplay));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /^dalasi_shared_commits_split_total 0$/m, 'nothing failed, so nothing was done again');
  });

  it('with one key have one effect, and those that are refused leave the others alone', async () => {
    const key = newKey();
    const [same, refused, good] = await Promise.all([
      Promise.all(Array.from({ length: 12 }, () => pay({ amount: 7 }, key))),
      Promise.all(Array.from({ length: 12 }, () => pay({ amount: 7, payment_methods: ['nowhere'] }, newKey()))),
      Promise.all(Array.from({ length: 12 }, () => pay({ amount: 7 }, newKey()))),
    ]);
    assert.equal(new Set(same.map(({ text }) => text)).size, 1);
    assert.deepEqual([same.filter(isReplay).length, new Set(same.map(({ status }) => status))], [11, new Set([201])]);
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([400]));
    assert.deepEqual(new Set(good.map(({ status }) => status)), new Set([201]));
  });
});

describe('an Idempotency-Key header', () => {
  it('is refused with 400 if it is empty, too long, sent twice or not plain text', async () => {
    const before = await countRecords();
    const head = (...keys: string[]) =>
      rawHead('POST', '/v1/payments', [
        `Authorization: Bearer ${business.test.key}`,
        'Content-Type: application/json',
        'Content-Length: 22',
        ...keys,
      ]);
    const cases: Record<string, string[]> = {
      empty: ['Idempotency-Key:'],
      blank: ['Idempotency-Key:    \t '],
      'of 256 characters': [`Idempotency-Key: ${'k'.repeat(256)}`],
      'sent twice': ['Idempotency-Key: one', 'Idempotency-Key: two'],
      'sent twice, the same': ['Idempotency-Key: one', 'idempotency-key: one'],
      'in UTF-8': ['Idempotency-Key: cl\u00e9'],
      'with a tab': ['Idempotency-Key: a\tb'],
    };
    for (const [name, keys] of Object.entries(cases)) {
      const response = await sendRaw(service.url, `${head(...keys)}{"data":{"amount":12}}`);
      assert.deepEqual(
        [response.status, response.body['code']],
        [400, 'idempotency_key_invalid'],
        `${name}: ${response.text}`,
      );
      assert.match(String(response.body['doc_url']), /\/errors\/idempotency_key_invalid$/);
    }
    assert.deepEqual(await countRecords(), before);
  });

  it('may have 1 to 255 characters of any plain kind', async () => {
    for (const key of ['k', 'K'.repeat(255), `a b"c'd\\e{f}%00~!${newKey()}`]) {
      const responses = [await pay({ amount: 5 }, key), await pay({ amount: 5 }, key)];
      assert.deepEqual(
        responses.map((response) => [response.status, isReplay(response)]),
        [
          [201, false],
          [201, true],
        ],
      );
    }
  });

  it('may be omitted if it is not required: then every request is a new one', async () => {
    const responses = [
      await api.post('/v1/payments', { data: { amount: 5 } }),
      await api.post('/v1/payments', { data: { amount: 5 } }),
    ];
    assert.notEqual(responses[0]?.body['payment_intent_id'], responses[1]?.body['payment_intent_id']);
  });
});
