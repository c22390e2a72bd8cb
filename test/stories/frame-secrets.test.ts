import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKeyText } from '../../server/src/merchants/api-key.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { rawHead, sendRaw } from '../harness/raw-request.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';
import { asOwner, dumpTables } from '../harness/tables.ts';

// A payer's numbers and texts, which only the merchant may see.
const personal = {
  account_number: '7770001',
  customer_phone: '+220 399 8877',
  customer_name: 'Canary Jallow',
  customer_email: 'canary.jallow@shop.example',
  title: 'Canary title',
  description: 'Canary description',
};

let service: TestService;
let receiver: CallbackReceiver;
let business: TestBusiness;
let api: ApiClient;
/** Every secret that was returned once, by its description. */
const issued = new Map<string, string>();
let intentSecret: string;

before(async () => {
  service = await startService();
  receiver = await startCallbackReceiver();
  business = await service.onboard();
  for (const [name, merchant] of Object.entries(business)) {
    issued.set(`${name} key`, merchant.key).set(`${name} webhook secret`, merchant.webhookSecret);
  }
  api = createApiClient(service.url, business.test.key);
  await useEverything();
});
after(async () => {
  await receiver.close();
  await service.stop();
});

/** Makes a payment from start to end, and sends and receives a secret in every possible way. */
async function useEverything(): Promise<void> {
  const headers = { 'idempotency-key': 'canary-endpoint' };
  const endpoint = await api.post('/v1/webhook-endpoints', { url: `${receiver.url}/events` }, headers);
  issued.set('endpoint secret', String(endpoint.body['secret']));
  const rotate = `/v1/webhook-endpoints/${String(endpoint.body['id'])}/rotate-secret`;
  const rotated = await api.post(rotate, undefined, { 'idempotency-key': 'canary-rotation' });
  issued.set('rotated secret', String(rotated.body['secret']));
  const data = { amount: 450.5, network: 'aps', metadata: { note: 'Canary note' }, ...personal };
  const paid = await api.post('/v1/payments', { data }, { 'idempotency-key': 'canary-payment' });
  assert.equal(paid.status, 201, paid.text);
  intentSecret = String(paid.body['intent_secret']);
  await eventually('the payment is successful', async () => {
    const found = await api.get(`/v1/payments/verify?intent_secret=${intentSecret}`);
    return found.body['status'] === 'successful';
  });
  await eventually('its events arrived', () => receiver.received.length >= 2);
  await service.app.drain();
}

/** The forms of a text in a dump: as it is, or as bytes in hex. */
function forms(secret: string): string[] {
  const bare = secret.replace(/^(wh_|sk_test_|sk_live_)/, '');
  const hex = (bytes: Buffer) => bytes.toString('hex');
  return [
    secret,
    bare,
    bare.slice(0, 32),
    hex(Buffer.from(secret)),
    hex(Buffer.from(bare)),
    hex(Buffer.from(bare, 'base64')),
  ];
}

describe('a secret that was returned once', () => {
  it('is in no table in readable form', async () => {
    const tables = await dumpTables(service);
    assert.ok(tables.size >= 20);
    for (const [table, text] of tables) {
      for (const [name, secret] of issued) {
        for (const form of forms(secret))
          assert.ok(!text.toLowerCase().includes(form.toLowerCase()), `${name} in ${table}`);
      }
    }
    // Shows that the dump has the stored values.
    assert.ok(tables.get('public.payment_intents')?.includes(personal.title));
    assert.ok(tables.get('public.api_keys')?.includes(business.test.key.slice(-4)));
    assert.equal(tables.get('public.idempotency_keys')?.split('\n').length, 3);
  });

  it('is replayed from a response that is stored sealed', async () => {
    const { body } = await api.post(
      '/v1/webhook-endpoints',
      { url: `${receiver.url}/events` },
      { 'idempotency-key': 'canary-endpoint' },
    );
    assert.equal(body['secret'], issued.get('endpoint secret'));
    const stored = (await dumpTables(service)).get('public.idempotency_keys') ?? '';
    for (const text of [...Object.values(personal), 'payment_intent_id', '"secret":', intentSecret]) {
      assert.ok(!stored.includes(text) && !stored.includes(Buffer.from(text).toString('hex')), text);
    }
  });

  it('is, as an intent secret, in its payment’s row only', async () => {
    for (const [table, text] of await dumpTables(service)) {
      assert.equal(text.includes(intentSecret), table === 'public.payment_intents', table);
    }
  });
});

describe('an event and a callback to a merchant’s server', () => {
  it('contain no key, no secret and no payer’s number but the one that the merchant sent', () => {
    assert.ok(receiver.received.length >= 2);
    for (const { headers, body } of receiver.received) {
      const text = `${JSON.stringify(headers)} ${body.toString()}`;
      for (const [name, secret] of issued) assert.ok(!text.includes(secret), name);
      assert.ok(!text.includes(intentSecret) && !text.includes(personal.account_number));
    }
    const charges = receiver.received
      .map(({ body }) => body.toString())
      .filter((text) => text.includes('charge.succeeded'));
    assert.ok(charges.some((text) => text.includes('"payment_account":".... 0001"')));
  });
});

describe('the log', () => {
  it('and the metrics contain no secret, number or text of a payer, whatever fails', async () => {
    const canaries = [...(await sendCanaries()), ...issued.values(), intentSecret, ...Object.values(personal)];
    assert.ok(canaries.length >= 40, `${canaries.length} canaries`);
    const metrics = await createApiClient(service.url, '').get('/metrics');
    const outputs = [...service.logLines, metrics.text];
    assert.ok(service.logLines.length > 50);
    for (const canary of new Set(canaries)) {
      for (const text of [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64')]) {
        const found = outputs.find((output) => output.includes(text));
        assert.equal(found, undefined, `${canary} stands in ${found}`);
      }
    }
    assert.ok(
      service.logLines.some((line) => line.includes('"level":"error"')),
      'something did go wrong',
    );
  });
});

/** Puts secrets and numbers wherever a request has room for them, validly and invalidly; returns all of them. */
async function sendCanaries(): Promise<string[]> {
  const canaries: string[] = [];
  const canary = (text: string) => {
    canaries.push(text);
    return text;
  };
  const key = () => canary(createApiKeyText(systemRandom, true));
  const phone = (index: number) => canary(`+220 366 10${10 + index}`);
  const word = (index: number) => canary(`canary-word-${index}-Zq8`);
  const send = (head: string, body = '') => sendRaw(service.url, head + body);

  for (const headers of [
    [`Authorization: Bearer ${key()}`],
    [`Authorization: Basic ${Buffer.from(`${key()}:`).toString('base64')}`],
    [`Authorization: ${key()}`],
    [
      `Authorization: Bearer ${business.test.key}`,
      `Cookie: session=${word(1)}`,
      `X-Api-Key: ${key()}`,
      `Referer: http://x/?k=${key()}`,
    ],
    [
      `Authorization: Bearer ${business.test.key}`,
      `User-Agent: ${word(2)}`,
      `X-Forwarded-For: ${word(3)}`,
      `X-Request-Id: ${word(4)}`,
    ],
  ]) {
    await send(rawHead('GET', `/v1/payments?term=${encodeURIComponent(phone(0))}`, headers));
  }
  await send(rawHead('GET', `/v1/${key()}/${word(5)}`, []));
  await send(rawHead('GET', `/v1/payments/%zz${word(6)}`, []));
  await send(rawHead('GET', `/v1/payments?api_key=${key()}`, [`Authorization: Bearer ${business.test.key}`]));
  await send(`GARBAGE ${key()} ${word(7)}\r\n\r\n`);
  await send(rawHead('GET', '/v1/payments', [`X-Big: ${word(8)}${'a'.repeat(17_000)}`]));

  const bodies = [
    `{"data":{"amount":10,"title":"${word(9)}","customer_phone":"${phone(1)}"`,
    `{"data":{"amount":"${word(10)}"}}`,
    `{"data":{"amount":10,"${word(11)}":"${phone(2)}"}}`,
    `{"data":{"amount":10,"network":"wave","account_number":"${canary('70123456789')}"}}`,
    `{"data":{"amount":10,"callback_url":"http://user:${word(12)}@shop.example/"}}`,
    `{"data":{"amount":10,"metadata":{"pin":"${canary('pin-4821-Zq8')}"},"title":"a","title":"${word(13)}"}}`,
  ];
  const json = { 'content-type': 'application/json' };
  for (const body of bodies) {
    await api.send('POST', '/v1/payments', { body, headers: { ...json, 'idempotency-key': word(14) } });
    await api.send('POST', '/v1/payments', { body, headers: { 'content-type': word(15) } });
  }
  await api.post('/v1/payments/verify', { intent_secret: canary('f00d'.repeat(16)) });
  await api.get(`/v1/payments/verify?intent_secret=${canary('beef'.repeat(16))}`);
  await api.send('POST', '/networks/wave/callbacks', {
    body: JSON.stringify({ payer: phone(3), secret: word(16) }),
    headers: { ...json, 'x-signature': canary(`t=1,v1=${'ab'.repeat(32)}`) },
  });
  for (const path of [`/pay/${word(17)}`, `/simulator/phone/${canary('7998877')}`]) await api.get(path);
  await failInside({ title: word(18), customer_phone: phone(4), account_number: '7000001', network: 'aps' });
  await payOut({ word, number: canary });
  return canaries;
}

/** Transfers that are paid, refused, waiting for a network that is down, rejected by us, and aborted. */
async function payOut(canaries: { word: (index: number) => string; number: (text: string) => string }): Promise<void> {
  const { word, number } = canaries;
  const transfer = { amount: 10, network: 'qmoney', beneficiary_name: word(19), narration: word(20) };
  const send = (index: number, fields: object) =>
    api.post('/v1/transfers', { ...transfer, ...fields }, { 'idempotency-key': word(30 + index) });
  const numbers = ['+220 366 2001', '+220 366 0002', '+220 366 0008', '+220 366 0010'].map(number);
  for (const [index, text] of numbers.entries()) {
    assert.equal((await send(index, { account_number: text })).status, 201);
  }
  await service.app.drain();
  assert.ok(service.logLines.some((line) => line.includes('payouts are paused')));
  const [first = ''] = numbers;
  assert.equal((await send(5, { account_number: number('3661234567') })).status, 400);
  assert.equal(
    (await send(6, { account_number: first, callback_url: `http://a:${word(21)}@shop.example/` })).status,
    400,
  );
  assert.equal((await send(7, { account_number: first, [word(22)]: 1 })).status, 400);
  await asOwner(service, 'ALTER TABLE transfers ADD CONSTRAINT broken_on_purpose CHECK (false) NOT VALID');
  const broken = await send(8, { account_number: first });
  await asOwner(service, 'ALTER TABLE transfers DROP CONSTRAINT broken_on_purpose');
  assert.equal(broken.status, 500);
}

/** PostgreSQL's error of a refused statement has the row, which a log of the whole error would show. */
async function failInside(data: object): Promise<void> {
  for (const table of ['payment_intents', 'charges']) {
    await asOwner(service, `ALTER TABLE ${table} ADD CONSTRAINT broken_on_purpose CHECK (false) NOT VALID`);
    const response = await api.post('/v1/payments', { data: { amount: 10, ...data } });
    await asOwner(service, `ALTER TABLE ${table} DROP CONSTRAINT broken_on_purpose`);
    assert.equal(response.status, 500);
  }
}
