import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setLimit } from '../../server/src/merchants/manage-rules.ts';
import { createApiClient, type ApiResponse } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { rawHead, sendRaw } from '../harness/raw-request.ts';
import { asOwner, countRows, whileLocked } from '../harness/tables.ts';
import { transferBody, startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// The promise of an Idempotency-Key for transfers: however and whenever a request is repeated, the beneficiary is paid
// once.

let world: TransferStory;
/** A merchant for one test. */
let story: TransferStory;

before(async () => {
  world = await startTransferStory({ isPatient: false, connectionsMax: 10 });
});
afterEach(() => world.verify());
after(() => world.stop());

function isReplay(response: ApiResponse): boolean {
  return response.headers.get('idempotent-replayed') === 'true';
}

/** The parts of a response that the tests of replays compare. */
function outcomeOf(response: ApiResponse): [number, unknown, boolean] {
  return [response.status, response.body['code'] ?? response.body['id'], isReplay(response)];
}

function countRecords() {
  const { id } = story.merchant.merchant;
  return countRows(story.service, id, 'transfers', 'ledger_holds', 'ledger_movements', 'events', 'idempotency_keys');
}

/** The merchant's records, payouts at the network, and balance. */
async function countEverything() {
  return { ...(await countRecords()), payouts: await story.payoutCount(), balance: await story.payoutBalance() };
}

/** Sends a body unchanged. */
function sendText(text: string, key: string): Promise<ApiResponse> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return createApiClient(story.service.url, story.merchant.key).send('POST', '/v1/transfers', { body: text, headers });
}

describe('a transfer request that is repeated with its key', () => {
  it('is one transfer, hold, payout and response, byte for byte, however often it is sent', async () => {
    story = await world.forAnotherMerchant();
    const before = await countRecords();
    const responses: ApiResponse[] = [];
    for (let time = 1; time <= 100; time += 1) {
      responses.push(await story.request('7000001', {}, 'a hundred times'));
      // The response stays the same although the transfer proceeds.
      if (time === 50) await story.settle();
    }
    await story.settle();
    const [first] = responses;
    assert.ok(first?.status === 201 && !isReplay(first), first?.text);
    assert.deepEqual([...new Set(responses.map(({ status, text }) => `${status} ${text}`))], [`201 ${first.text}`]);
    assert.equal(responses.filter(isReplay).length, 99);
    const now = await countRecords();
    assert.deepEqual(
      [now.transfers, now.ledger_holds, now.idempotency_keys],
      [before.transfers + 1, before.ledger_holds + 1, before.idempotency_keys + 1],
    );
    assert.equal(await story.payoutCount(), 1);
    assert.equal(await story.statusOf(String(first.body['id'])), 'completed');
    assert.equal(await story.payoutBalance(), 999_900);
  });

  it('is the same request when only its formatting differs', async () => {
    story = await world.forAnotherMerchant();
    const rest = '"network":"aps","account_number":"7000001","beneficiary_name":"Awa"';
    const first = await sendText(`{"amount":10,${rest},"metadata":{"a":1,"b":[1,2]}}`, 'spelt');
    assert.equal(first.status, 201, first.text);
    const spellings = [
      `{"metadata":{"b":[1,2],"a":1},${rest},"amount":10.00}`,
      `{ "amount" : 1e1 ,\n\t${rest.replaceAll(':', ' : ')}, "metadata":{"a":1.0,"b":[1.00,2]} }\r\n`,
      `{"\\u0061mount":10.0,${rest.replace('Awa', '\\u0041wa')},"metadata":{"a":1,"b":[1,2]}}`,
    ];
    for (const text of spellings) {
      const again = await sendText(text, 'spelt');
      assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true], text);
    }
    assert.equal((await countRecords()).transfers, 1);
  });

  it('is refused with 422 and changes nothing when any field has another meaning', async () => {
    story = await world.forAnotherMerchant();
    const request = {
      ...transferBody,
      currency: 'GMD',
      narration: 'Wages for May',
      callback_url: 'http://127.0.0.1:9/transfers',
      metadata: { payroll: '17', lines: [1, 2], deep: { a: null } },
    };
    const changes: Record<string, unknown[]> = {
      amount: [100.01, 10, 1000],
      network: ['wave'],
      account_number: ['7000002', '700 0001', '+2207000001'],
      beneficiary_name: ['Awa ceesay', 'Awa Ceesay '],
      narration: [undefined, null, 'Wages for June'],
      callback_url: [undefined, 'http://127.0.0.1:9/transfers/'],
      metadata: [
        undefined,
        {},
        { ...request.metadata, payroll: 17 },
        { ...request.metadata, lines: [2, 1] },
        { ...request.metadata, deep: { a: false } },
      ],
    };
    const send = (body: object) => story.api.post('/v1/transfers', body, { 'idempotency-key': 'changed' });
    const first = await send(request);
    assert.equal(first.status, 201, first.text);
    await story.settle();
    const before = await countRecords();
    // The only currency is the default, so omitting it means the same.
    const { currency: _, ...changeable } = request;
    assert.deepEqual(Object.keys(changes).toSorted(), Object.keys(changeable).toSorted(), 'every field has a change');
    for (const [field, values] of Object.entries(changes)) {
      for (const value of values) {
        const response = await send({ ...request, [field]: value });
        const expected = [422, 'idempotency_key_reused', false];
        assert.deepEqual(outcomeOf(response), expected, `${field} ${JSON.stringify(value)}`);
      }
    }
    assert.deepEqual(await countRecords(), before);
    for (const same of [request, { ...request, currency: undefined }, { ...request, currency: null }]) {
      assert.deepEqual(outcomeOf(await send(same)), [201, first.body['id'], true]);
    }
  });

  it('is another request for another merchant, environment or path', async () => {
    story = await world.forAnotherMerchant();
    const business = await world.service.onboard('Serekunda Shoes');
    const key = { 'idempotency-key': 'shared' };
    const [mine, theirs, live] = [story.merchant.key, business.test.key, business.live.key].map((secret) =>
      createApiClient(story.service.url, secret),
    );
    assert.ok(mine && theirs && live);
    const responses = [
      await mine.post('/v1/transfers', transferBody, key),
      await theirs.post('/v1/transfers', transferBody, key),
    ];
    for (const response of responses)
      assert.deepEqual([response.status, isReplay(response)], [201, false], response.text);
    assert.notEqual(responses[0]?.body['id'], responses[1]?.body['id']);
    const inLive = await live.post('/v1/transfers', transferBody, key);
    assert.deepEqual(outcomeOf(inLive), [400, 'network_not_available', false]);
    const quoted = await mine.post('/v1/transfers/fees', { amount: 100, network: 'aps' }, key);
    assert.deepEqual([quoted.status, isReplay(quoted)], [200, false]);
    const dropped = await mine.post(`/v1/transfers/${String(responses[0]?.body['id'])}/cancel`, undefined, key);
    assert.deepEqual(isReplay(dropped), false);
  });
});

describe('the Idempotency-Key of a transfer request', () => {
  it('is refused when it is missing, empty, too long, sent twice or not plain text', async () => {
    story = await world.forAnotherMerchant();
    const before = await countRecords();
    const body = JSON.stringify(transferBody);
    const cases: Record<string, string[]> = {
      missing: [],
      empty: ['Idempotency-Key:'],
      blank: ['Idempotency-Key:    \t '],
      'of 256 characters': [`Idempotency-Key: ${'k'.repeat(256)}`],
      'sent twice': ['Idempotency-Key: one', 'Idempotency-Key: two'],
      'sent twice, the same': ['Idempotency-Key: one', 'idempotency-key: one'],
      'in UTF-8': ['Idempotency-Key: cl\u00e9'],
      'in another header': ['X-Idempotency-Key: one'],
    };
    for (const [name, keys] of Object.entries(cases)) {
      const head = rawHead('POST', '/v1/transfers', [
        `Authorization: Bearer ${story.merchant.key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        ...keys,
      ]);
      const response = await sendRaw(story.service.url, head + body);
      assert.deepEqual(outcomeOf(response), [400, 'idempotency_key_invalid', false], `${name}: ${response.text}`);
      assert.match(String(response.body['doc_url']), /\/errors\/idempotency_key_invalid$/);
    }
    assert.deepEqual(await countRecords(), before);
  });
});

describe('the stored response of a transfer’s key', () => {
  it('is no validation error, 401, 409, 429 or 503: the corrected request may use the key', async () => {
    story = await world.forAnotherMerchant();
    const before = await countRecords();
    const { id, shortId } = story.merchant.merchant;
    const send = (changes: Record<string, unknown> = {}) => story.request('7000001', changes, 'kept');
    for (const changes of [
      { amount: 0 },
      { amount: '10' },
      { currency: 'XOF' },
      { account_number: '12' },
      { fee: 1 },
    ]) {
      assert.equal((await send(changes)).status, 400);
    }
    const stranger = createApiClient(story.service.url, `${story.merchant.key.slice(0, -1)}!`);
    assert.equal((await stranger.post('/v1/transfers', transferBody, { 'idempotency-key': 'kept' })).status, 401);
    const running = `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at)
                     VALUES ($1, '/v1/transfers', 'kept', '', '2026-11-20')`;
    const waiting = await whileLocked(story.service, { text: running, values: [id] }, () => send());
    assert.deepEqual(outcomeOf(waiting), [409, 'idempotency_in_progress', false]);
    assert.equal(waiting.headers.get('retry-after'), '1');
    const locked = await whileLocked(story.service, { text: 'LOCK TABLE transfers' }, () => send());
    assert.deepEqual(outcomeOf(locked), [503, 'unavailable', false]);
    await asOwner(story.service, 'UPDATE merchants SET rate_limit_per_second = 1 WHERE id = $1', [id]);
    // A merchant and its key are cached for some seconds.
    await story.clock.jump(10_000);
    let limited = await story.api.get('/v1/balances');
    while (limited.status === 200) limited = await send({ amount: 0 }).then(() => story.api.get('/v1/balances'));
    assert.equal((await send()).status, 429);
    await asOwner(story.service, 'UPDATE merchants SET rate_limit_per_second = 0 WHERE id = $1', [id]);
    await story.clock.jump(10_000);
    assert.deepEqual(await countRecords(), before);
    assert.deepEqual([(await send()).status, isReplay(await send())], [201, true]);
    await story.settle();
    const paid = await asOwner(story.service, 'SELECT 1 FROM simulator.payouts WHERE account = $1', [shortId]);
    assert.equal(paid.length, 1);
  });

  it('is no 500 before the commit: the request can be repeated, and has left no trace', async () => {
    story = await world.forAnotherMerchant();
    const before = await countRecords();
    await asOwner(
      story.service,
      'ALTER TABLE ledger_movements ADD CONSTRAINT broken_on_purpose CHECK (false) NOT VALID',
    );
    const broken = await story.request('7000001', {}, 'broken');
    await asOwner(story.service, 'ALTER TABLE ledger_movements DROP CONSTRAINT broken_on_purpose');
    assert.deepEqual(outcomeOf(broken), [500, 'internal_error', false]);
    assert.deepEqual(await countRecords(), before);
    const { status } = await story.request('7000001', {}, 'broken');
    assert.deepEqual([status, (await countRecords()).transfers], [201, 1]);
  });

  it('is the committed response, although the client never received it', async () => {
    story = await world.forAnotherMerchant();
    const body = JSON.stringify(transferBody);
    const socket = connect(Number(new URL(story.service.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = rawHead('POST', '/v1/transfers', [
      `Authorization: Bearer ${story.merchant.key}`,
      'Idempotency-Key: lost',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]);
    // The response is not read.
    socket.write(head + body);
    await eventually('the transfer is there', async () => (await countRecords()).transfers === 1);
    socket.destroy();
    const again = await sendText(body, 'lost');
    assert.deepEqual([again.status, isReplay(again), (await countRecords()).transfers], [201, true, 1]);
  });

  it('is a refusal for balance or limit, also when the balance suffices later', async () => {
    story = await world.forAnotherMerchant();
    const limit = (dalasi: bigint) =>
      setLimit(
        story.service.db,
        { merchantId: story.merchant.merchant.id },
        { kind: 'largest', amountMinor: dalasi * 100n },
      );
    const everything = await story.transferSettled('7000010', { amount: 1_000_000 });
    const poor = await story.request('7000001', {}, 'poor');
    assert.deepEqual(outcomeOf(poor), [400, 'insufficient_balance', false]);
    await limit(50n);
    await story.clock.jump(10_000);
    const limited = await story.request('7000001', {}, 'limited');
    assert.deepEqual(outcomeOf(limited), [400, 'limit_exceeded', false]);
    assert.match(String(limited.body['message']), /D50\.00/);
    await limit(1_000_000n);
    await story.clock.jump(10_000);
    assert.equal((await story.api.post(`/v1/transfers/${everything}/cancel`)).status, 200);
    for (const [key, first] of [
      ['poor', poor],
      ['limited', limited],
    ] as const) {
      const again = await sendText(JSON.stringify(transferBody), key);
      assert.deepEqual([again.status, again.text, isReplay(again)], [400, first.text, true]);
      assert.equal((await story.request('7000001', { amount: 1 }, key)).status, 422);
      assert.equal((await story.request('7000001', {}, `${key}, newly`)).status, 201);
    }
  });
});

describe('after 72 hours, when stored responses are deleted,', () => {
  // A worker purges old responses every ten minutes.
  const [hoursMs, purgeIntervalMs] = [60 * 60 * 1_000, 10 * 60 * 1_000];

  const countStoredResponses = async (): Promise<number> => {
    const text =
      'SELECT count(*)::integer AS count FROM idempotency_keys WHERE merchant_id = $1 AND response IS NOT NULL';
    const [row] = await asOwner<{ count: number }>(story.service, text, [story.merchant.merchant.id]);
    return row?.count ?? -1;
  };

  it('a key still returns its transfer with its current status, and never pays again', async () => {
    story = await world.forAnotherMerchant();
    const keys = { completed: '7000001', failed: '7000002', pending: '7000004', reversed: '7000012' };
    const firsts = new Map<string, ApiResponse>();
    for (const [status, number] of Object.entries(keys)) firsts.set(status, await story.request(number, {}, status));
    await story.advance(2_000);
    await story.advance(72 * hoursMs - 3_000);
    assert.equal(await countStoredResponses(), 4);
    for (const [status, number] of Object.entries(keys)) {
      assert.equal((await story.request(number, {}, status)).text, firsts.get(status)?.text, 'kept for the whole time');
    }
    await story.advance(purgeIntervalMs);
    assert.equal(await countStoredResponses(), 0);
    const before = await countEverything();
    for (const [status, number] of Object.entries(keys)) {
      const again = await Promise.all(Array.from({ length: 5 }, () => story.request(number, {}, status)));
      for (const response of again) {
        assert.deepEqual(outcomeOf(response), [201, firsts.get(status)?.body['id'], true]);
        assert.equal(response.body['status'], status);
        assert.deepEqual(response.body, await story.retrieve(String(response.body['id'])));
      }
      assert.deepEqual(outcomeOf(await story.request(number, { amount: 101 }, status)), [
        422,
        'idempotency_key_reused',
        false,
      ]);
    }
    await story.advance(72 * hoursMs);
    const last = await story.request('7000001', {}, 'completed');
    assert.deepEqual(outcomeOf(last), [201, firsts.get('completed')?.body['id'], true]);
    const after = await countEverything();
    assert.deepEqual(after, before);
  });

  it('a refusal is forgotten, and the same key can then pay', async () => {
    story = await world.forAnotherMerchant();
    const everything = await story.request('7000002', { amount: 1_000_000 });
    assert.equal(everything.status, 201);
    const refused = await story.request('7000001', {}, 'later');
    assert.deepEqual(outcomeOf(refused), [400, 'insufficient_balance', false]);
    await story.advance(72 * hoursMs - 1_000);
    const stored = await sendText(JSON.stringify(transferBody), 'later');
    assert.deepEqual([stored.text, isReplay(stored)], [refused.text, true]);
    await story.advance(purgeIntervalMs);
    const paid = await story.request('7000001', {}, 'later');
    assert.deepEqual([paid.status, isReplay(paid)], [201, false]);
    assert.deepEqual(outcomeOf(await story.request('7000001', {}, 'later')), [201, paid.body['id'], true]);
  });
});

describe('a transfer that the network refused', () => {
  it('is replayed under its key and new under another one, each with its own hold', async () => {
    story = await world.forAnotherMerchant();
    const first = await story.request('7000002', {}, 'first');
    await story.settle();
    assert.equal(await story.statusOf(String(first.body['id'])), 'failed');
    assert.equal(await story.payoutBalance(), 1_000_000);
    const again = await story.request('7000002', {}, 'first');
    assert.deepEqual([again.text, isReplay(again)], [first.text, true], 'although it has failed since');
    await story.settle();
    assert.deepEqual([await story.payoutCount(), await story.payoutBalance()], [1, 1_000_000]);
    const second = await story.request('7000002', {}, 'second');
    assert.deepEqual([second.status, isReplay(second)], [201, false]);
    assert.notEqual(second.body['id'], first.body['id']);
    await story.settle();
    assert.deepEqual([await story.payoutCount(), await story.payoutBalance()], [2, 1_000_000]);
    const sends = await asOwner(
      story.service,
      `SELECT holds.status, holds.amount::integer, transfers.sends::integer FROM simulator.payouts AS payouts
       LEFT JOIN transfers ON transfers.merchant_id = $1 AND transfers.reference = payouts.reference
       LEFT JOIN ledger_holds AS holds ON holds.merchant_id = $1 AND holds.source_id = transfers.id
       WHERE payouts.account = $2`,
      [story.merchant.merchant.id, story.merchant.merchant.shortId],
    );
    const send = { status: 'released', amount: 10_000, sends: 1 };
    assert.deepEqual(sends, [send, send], 'one hold for each order that the network has');
  });

  it('or cancelled before it was sent, is not sent by a replay', async () => {
    story = await world.forAnotherMerchant();
    const first = await story.request('7000010', {}, 'cancelled');
    const id = String(first.body['id']);
    await story.settle();
    assert.equal((await story.api.post(`/v1/transfers/${id}/cancel`)).status, 200);
    const again = await story.request('7000010', {}, 'cancelled');
    assert.deepEqual([again.text, isReplay(again)], [first.text, true]);
    await story.advance(60_000);
    assert.deepEqual([await story.statusOf(id), await story.payoutCount()], ['cancelled', 0]);
    assert.equal(await story.payoutBalance(), 1_000_000);
  });
});
