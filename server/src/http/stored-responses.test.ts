import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { createApiClient, type ApiClient } from '../../../test/harness/api-client.ts';
import { serveRoutes } from '../../../test/harness/api-frame.ts';
import { asOwner, countRows, whileLocked } from '../../../test/harness/tables.ts';
import { openCase } from '../cases/open-case.ts';
import { AppError } from '../api/app-error.ts';
import { uuidV7 } from '../kit/ids.ts';
import { systemRandom } from '../kit/random.ts';
import { writeRoute } from '../api/route.ts';
import { isReplay, startIdempotencyWorld } from './idempotency-world.corpus.ts';

const { service, business, api, newKey, sendText, pay, countRecords } = await startIdempotencyWorld({
  isPatient: false,
});
after(() => service.stop());

describe('an Idempotency-Key', () => {
  it('stores no validation error, so that the corrected request may use the key', async () => {
    const key = newKey();
    const refused: [string, number][] = [
      ['{"data":{"amount":0}}', 400],
      ['{"data":{"amount":10,"currency":"EUR"}}', 400],
      ['{"data":{"amount":10,"return_url":"ftp://x"}}', 400],
      ['{"data":{"amount":10,"network":"wave","account_number":"12"}}', 400],
      ['{"data":{"amount":"10"}}', 400],
      ['{"data":{"amount":10,"nonsense":1}}', 400],
      ['{"data":{"amount":10}', 400],
    ];
    for (const [text, status] of refused) assert.equal((await sendText(text, key)).status, status, text);
    const plain = await api.send('POST', '/v1/payments', { body: 'x', headers: { 'idempotency-key': key } });
    assert.equal(plain.status, 415);
    const mended = await pay({ amount: 10 }, key);
    assert.deepEqual([mended.status, isReplay(mended)], [201, false]);
  });

  it('stores no 401, 404 or state conflict', async () => {
    const key = newKey();
    const headers = { 'idempotency-key': key };
    const { body } = await pay({ amount: 10 }, newKey());
    const path = `/v1/payments/${String(body['payment_intent_id'])}/cancel`;
    const stranger = createApiClient(service.url, `${business.test.key.slice(0, -1)}!`);
    assert.equal((await stranger.post(path, undefined, headers)).status, 401);
    assert.equal((await createApiClient(service.url, business.live.key).post(path, undefined, headers)).status, 404);
    const cancelled = await api.post(path, undefined, headers);
    assert.deepEqual([cancelled.status, isReplay(cancelled)], [200, false]);
    const before = await countRecords();
    for (const again of ['a', 'a']) {
      const conflict = await api.post(path, undefined, { 'idempotency-key': again });
      assert.deepEqual([conflict.status, conflict.body['code'], isReplay(conflict)], [409, 'state_conflict', false]);
    }
    assert.deepEqual(await countRecords(), before);
  });

  it('stores no 409 for a first request that is still running', async () => {
    const key = newKey();
    const merchantId = business.test.merchant.id;
    const text = `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at)
                  VALUES ($1, '/v1/payments', $2, '', '2026-11-20')`;
    const running = await whileLocked(service, { text, values: [merchantId, key] }, () => pay({ amount: 10 }, key));
    assert.deepEqual([running.status, running.body['code']], [409, 'idempotency_in_progress']);
    assert.equal(running.headers.get('retry-after'), '1');
    const later = await pay({ amount: 10 }, key);
    assert.deepEqual([later.status, isReplay(later)], [201, false]);
  });

  it('stores no 503, and no 500 from before the commit', async () => {
    const key = newKey();
    const before = await countRecords();
    const locked = await whileLocked(service, { text: 'LOCK TABLE events' }, () => pay({ amount: 10 }, key));
    assert.deepEqual([locked.status, locked.body['code']], [503, 'unavailable']);
    await asOwner(service, 'ALTER TABLE events ADD CONSTRAINT broken_on_purpose CHECK (false) NOT VALID');
    const broken = await pay({ amount: 10 }, key);
    await asOwner(service, 'ALTER TABLE events DROP CONSTRAINT broken_on_purpose');
    assert.deepEqual([broken.status, broken.body['code']], [500, 'internal_error']);
    assert.deepEqual(await countRecords(), before);
    const later = await pay({ amount: 10 }, key);
    assert.deepEqual([later.status, isReplay(later)], [201, false]);
  });

  it('stores a business refusal', async () => {
    const key = newKey();
    const refused = await pay({ amount: 10, network: 'nowhere' }, key);
    assert.deepEqual([refused.status, refused.body['code'], isReplay(refused)], [400, 'network_not_available', false]);
    const again = await createApiClient(service.url, business.test.key).post(
      '/v1/payments',
      { data: { amount: 10, network: 'nowhere' } },
      { 'idempotency-key': key },
    );
    assert.deepEqual([again.status, again.text, isReplay(again)], [400, refused.text, true]);
    assert.equal((await pay({ amount: 10, network: 'wave', account_number: '7000004' }, key)).status, 422);
  });

  it('stores no refusal because no live network is connected', async () => {
    const live = createApiClient(service.url, business.live.key);
    const before = await countRows(service, business.live.merchant.id, 'payment_intents', 'events', 'idempotency_keys');
    const order = { network: 'wave', account_number: '7012345' };
    const transfer = { ...order, amount: 10, beneficiary_name: 'Awa Ceesay' };
    for (const [path, body] of [
      ['/v1/payments', { data: { amount: 10 } }],
      ['/v1/payments', { data: { amount: 10, ...order } }],
      ['/v1/transfers', transfer],
    ] as const) {
      for (const time of ['first', 'second']) {
        const refused = await live.post(path, body, { 'idempotency-key': 'no network' });
        assert.deepEqual(
          [refused.status, refused.body['code'], isReplay(refused)],
          [400, 'network_not_available', false],
        );
        assert.match(String(refused.body['message']), /^No live network is connected to this server yet\./, time);
      }
    }
    const after = await countRows(service, business.live.merchant.id, 'payment_intents', 'events', 'idempotency_keys');
    assert.deepEqual(after, before);
    assert.ok(service.logLines.some((line) => line.includes('no live network is connected')));
  });

  it('stores its response sealed, and the seal opens for its own row only', async () => {
    const key = newKey();
    const { body, text } = await pay({ amount: 10, title: 'A secret title' }, key);
    const where = 'WHERE merchant_id = $1 AND key = $2';
    const [row] = await asOwner<{ response: Buffer }>(service, `SELECT response FROM idempotency_keys ${where}`, [
      business.test.merchant.id,
      key,
    ]);
    assert.ok(row && !row.response.includes('secret') && !row.response.includes(String(body['intent_secret'])));
    const other = newKey();
    await pay({ amount: 10, title: 'A secret title' }, other);
    await asOwner(service, `UPDATE idempotency_keys SET response = $3 ${where}`, [
      business.test.merchant.id,
      other,
      row.response,
    ]);
    const moved = await pay({ amount: 10, title: 'A secret title' }, other);
    assert.equal(moved.status, 500);
    assert.ok(!moved.text.includes(text));
  });
});

describe('a route of the API', () => {
  const experiment = { isRefused: true };
  const route = writeRoute('POST', {
    path: '/v1/experiments/:id',
    operationId: 'experiment',
    scope: 'charge',
    tag: 'Experiments',
    summary: 'Open a case, then fail or not',
    body: Type.Object({}, { additionalProperties: false }),
    status: 201,
    response: Type.Object({}),
    idempotencyKeyRequired: true,
    async handle(_context: undefined, { caller, params }, tx) {
      const { merchantId } = caller;
      const context = { clock: service.clock, newId: () => uuidV7(service.clock, systemRandom) };
      const subject = { subjectType: 'charge', subjectId: params.id, reference: '', currency: 'GMD' } as const;
      const rest = { kind: 'amount_mismatch', amountMinor: 1n, summary: 'An experiment.' } as const;
      await openCase(tx, context, { merchantId, ...subject, ...rest });
      if (experiment.isRefused) throw new AppError('insufficient_balance', 'There is too little money.');
      return { id: params.id, balance: 'enough' };
    },
    async replay(_context: undefined, _request, subjectId) {
      return { id: subjectId, balance: 'as it is now' };
    },
  });
  let frame: Awaited<ReturnType<typeof serveRoutes>>;
  let client: ApiClient;
  const id = '01a1f8ac-4b37-7417-9fed-11d78420f713';
  const send = (headers: Record<string, string>) => client.post(`/v1/experiments/${id}`, {}, headers);
  const countCases = async () => (await countRows(service, business.test.merchant.id, 'cases')).cases;

  before(async () => {
    frame = await serveRoutes(service, [route]);
    client = createApiClient(frame.url, business.test.key);
  });
  after(() => frame.close());

  it('that requires the key refuses a request without it, and links the error page', async () => {
    const response = await send({});
    assert.deepEqual([response.status, response.body['code']], [400, 'idempotency_key_invalid']);
    assert.match(String(response.body['message']), /Send an Idempotency-Key header/);
    assert.match(String(response.body['doc_url']), /\/errors\/idempotency_key_invalid$/);
    assert.equal(await countCases(), 0);
  });

  it('rolls a refused request back, and replays the refusal although money arrived since', async () => {
    const key = newKey();
    experiment.isRefused = true;
    const refused = await send({ 'idempotency-key': key });
    assert.deepEqual([refused.status, refused.body['code']], [400, 'insufficient_balance']);
    assert.equal(await countCases(), 0);
    experiment.isRefused = false;
    const again = await send({ 'idempotency-key': key });
    assert.deepEqual([again.status, again.text, isReplay(again)], [400, refused.text, true]);
    assert.equal(await countCases(), 0);
    const fresh = await send({ 'idempotency-key': newKey() });
    assert.deepEqual([fresh.status, isReplay(fresh)], [201, false]);
    assert.equal(await countCases(), 1);
  });

  /** Replaces the id of the key that sealed the stored response, so that no configured key opens it. */
  const sealWithUnknownKey = (key: string) =>
    asOwner(
      service,
      `UPDATE idempotency_keys SET response = overlay(response PLACING decode($2, 'hex') FROM 2 FOR 4) WHERE key = $1`,
      [key, unknownKeyId],
    );
  const unknownKeyId = '00c0ffee';

  it('shows the record as it is now if the stored response cannot be opened, and creates nothing', async () => {
    const key = newKey();
    experiment.isRefused = false;
    assert.equal((await send({ 'idempotency-key': key })).status, 201);
    const count = await countCases();
    await sealWithUnknownKey(key);
    const again = await send({ 'idempotency-key': key });
    assert.deepEqual([again.status, again.body, isReplay(again)], [201, { id, balance: 'as it is now' }, true]);
    assert.equal(await countCases(), count);
  });

  it('answers 503 while the key of its stored response is missing, and 422 once it is lost', async () => {
    const key = newKey();
    experiment.isRefused = true;
    assert.equal((await send({ 'idempotency-key': key })).status, 400);
    await sealWithUnknownKey(key);
    experiment.isRefused = false;
    const count = await countCases();
    const missing = await send({ 'idempotency-key': key });
    assert.deepEqual([missing.status, missing.body['code']], [503, 'unavailable']);
    await asOwner(
      service,
      `INSERT INTO key_checks (setting, check_value, key_id, created_at, lost_at)
       VALUES ('SEAL_KEY', '', decode($1, 'hex'), '2026-11-20', '2026-11-20')`,
      [unknownKeyId],
    );
    const lost = await send({ 'idempotency-key': key });
    assert.deepEqual([lost.status, lost.body['code'], isReplay(lost)], [422, 'idempotency_key_reused', false]);
    assert.match(String(lost.body['message']), /was refused and changed nothing\..* Use a new key\.$/);
    assert.equal(await countCases(), count, 'the refused request is not processed anew');
    assert.equal((await send({ 'idempotency-key': newKey() })).status, 201);
    const paymentKey = newKey();
    assert.equal((await pay({ amount: 10 }, paymentKey)).status, 201);
    await sealWithUnknownKey(paymentKey);
    const before = await countRecords();
    const again = await pay({ amount: 10 }, paymentKey);
    assert.deepEqual([again.status, again.body['code']], [422, 'idempotency_key_reused']);
    assert.match(String(again.body['message']), /succeeded\..* Look up what it created/);
    assert.deepEqual(await countRecords(), before, 'no second payment is created');
  });
});
