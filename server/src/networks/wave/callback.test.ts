import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCallbackReader } from './callback.ts';
import { waveOptions } from './options.ts';
import { signWave } from './signature.ts';

// The vectors of docs/networks.md, "Wave": computed apart from this code, over bytes that must not change.
const secret = 'wave_gm_WHS_simulator_secret';
const seconds = 1_790_000_000;
const body =
  '{"id":"EV_sim0001","type":"checkout.session.completed","data":{"id":"cos-sim0001","amount":"100","currency":"GMD","client_reference":"INV-1","checkout_status":"complete","payment_status":"succeeded","transaction_id":"TSIM0001"}}';
const signature = '4be644a95b14a977295220490f052bf5dd4135c80836266101f80d4d88352938';
const dotted = 'ca5956565d19c1211bf888a5d93712d7f065092b15546854b7f1ea4e5df864d8';
const ofNothing = 'c748dcc83cdefa513088706c2e534b8deeb2dadeb9d44d711efeb45c6b43e14c';

const options = waveOptions({});
const read = createCallbackReader({ signing: [secret, 'older'], shared: [] }, options);
const sentAt = new Date(seconds * 1_000);

function reading(headers: Record<string, string>, { text = body, lateSeconds = 0, reader = read } = {}) {
  const receivedAt = new Date((seconds + lateSeconds) * 1_000);
  const result = reader({ headers, query: {}, body: Buffer.from(text), receivedAt });
  return result.accepted ? result.notifications : result.reason;
}

const signed = (...signatures: string[]) => ({
  'wave-signature': [`t=${seconds}`, ...signatures.map((one) => `v1=${one}`)].join(','),
});
const ofBody = (text: string) => ({ 'wave-signature': signWave(secret, { sentAt, body: text }) });

test('the documented signature is accepted, and one with a dot is not', () => {
  assert.equal(signWave(secret, { sentAt, body }), `t=${seconds},v1=${signature}`);
  assert.equal(signWave(secret, { sentAt, body: '' }), `t=${seconds},v1=${ofNothing}`);
  assert.deepEqual(reading(signed(signature)), [
    {
      ...{ operation: 'collection', reference: 'INV-1' },
      response: {
        state: 'succeeded',
        providerTransaction: {
          ...{ transactionId: 'TSIM0001', networkReference: 'cos-sim0001', amountMinor: 10_000n, currency: 'GMD' },
          ...{ networkFeeMinor: 0n, payerNumber: null },
        },
      },
    },
  ]);
  assert.equal(reading(signed(dotted)), 'signature');
  assert.equal(reading(signed(ofNothing)), 'signature');
});

test('while a secret is rotated any signature and either secret will do; a forged one will not', () => {
  assert.ok(Array.isArray(reading(signed('0'.repeat(64), signature))));
  assert.ok(Array.isArray(reading({ 'wave-signature': signWave('older', { sentAt, body }) })));
  for (const headers of [
    {},
    signed(),
    signed(signature.toUpperCase()),
    signed('0'.repeat(64)),
    { 'wave-signature': `v1=${signature},t=${seconds}` },
    { 'wave-signature': `t=${seconds}, v1=${signature}` },
    { authorization: `Bearer ${secret}` },
    { authorization: 'Bearer ' },
  ]) {
    assert.equal(reading(headers), 'signature', JSON.stringify(headers));
  }
  assert.equal(reading(signed(signature), { text: body.replace('"100"', '"1000"') }), 'signature');
  assert.equal(reading(signed(signature), { text: JSON.stringify(JSON.parse(body), null, 1) }), 'signature');
});

test('a signature is accepted for five minutes, and half a minute early', () => {
  assert.ok(Array.isArray(reading(signed(signature), { lateSeconds: 300 })));
  assert.ok(Array.isArray(reading(signed(signature), { lateSeconds: -30 })));
  assert.equal(reading(signed(signature), { lateSeconds: 301 }), 'stale');
  assert.equal(reading(signed(signature), { lateSeconds: -31 }), 'stale');
});

test('an account with shared secrets takes each of them as a bearer token, and nothing else', () => {
  const reader = createCallbackReader({ signing: [], shared: ['new', 'old'] }, options);
  assert.ok(Array.isArray(reading({ authorization: 'Bearer new' }, { reader })));
  assert.ok(Array.isArray(reading({ authorization: 'Bearer old' }, { reader })));
  for (const headers of [{}, { authorization: 'new' }, { authorization: 'Bearer newer' }, signed(signature)]) {
    assert.equal(reading(headers as Record<string, string>, { reader }), 'signature');
  }
  const secretless = createCallbackReader({ signing: [], shared: [] }, options);
  assert.equal(reading({ authorization: 'Bearer ' }, { reader: secretless }), 'signature');
  assert.equal(reading(signed(signature), { reader: secretless }), 'signature');
  assert.throws(() => createCallbackReader({ signing: [''], shared: [] }, options));
});

test('only a completed and paid session is a report; what else is said of a session is a hint', () => {
  const event = (type: string, changes: Record<string, unknown> = {}) => {
    const { data } = JSON.parse(body) as { data: object };
    const text = JSON.stringify({ id: 'EV_1', type, data: { ...data, ...changes } });
    return reading(ofBody(text), { text });
  };
  const hint = [{ operation: 'collection', reference: 'INV-1', response: null }];
  const failed = { last_payment_error: { code: 'insufficient-funds' }, checkout_status: 'open' };
  assert.deepEqual(event('checkout.session.payment_failed', failed), hint);
  assert.deepEqual(event('checkout.session.payment_failed'), hint, 'whatever its session says');
  assert.deepEqual(event('checkout.session.completed', { checkout_status: 'on_hold' }), hint);
  assert.deepEqual(event('checkout.session.completed', { amount: null }), hint);
  assert.deepEqual(event('checkout.session.something_new'), hint);
  assert.deepEqual(event('merchant.payment_received', { id: 'T_1' }), [], 'money that is no session’s');
  assert.deepEqual(event('test.test_event'), []);
  assert.deepEqual(event('checkout.session.completed', { client_reference: null }), []);
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"type":"checkout.session.completed"}',
    '{"type":1,"data":{}}',
    '{"a"',
  ]) {
    assert.equal(reading(ofBody(text), { text }), 'malformed', text);
  }
});

test('no bytes and no header make the reader throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ maxLength: 100 }), (bytes, header) => {
      const callback = { headers: { 'wave-signature': header }, query: {}, body: bytes, receivedAt: sentAt };
      assert.equal(read(callback).accepted, false);
      const text = Buffer.from(bytes).toString();
      const result = read({ ...callback, headers: ofBody(text), body: Buffer.from(text) });
      assert.ok(result.accepted || result.reason === 'malformed');
    }),
  );
});
