import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { addMs } from '../../kit/clock.ts';
import type { CallbackReading } from '../contract.ts';
import { signCallback } from '../../../../simulator/sign-callback.ts';
import { createCallbackReader } from './callback.ts';

// Golden vectors of Wave's signing mode with an invented secret, computed independently of this code.
const secret = 'wave_gm_WHS_simulator_secret';
const timestamp = 1_790_000_000;
const vectorBody =
  '{"id":"EV_sim0001","type":"checkout.session.completed","data":{"id":"cos-sim0001","amount":"100","currency":"GMD","client_reference":"INV-1","checkout_status":"complete","payment_status":"succeeded","transaction_id":"TSIM0001"}}';
const vectors = {
  plain: '4be644a95b14a977295220490f052bf5dd4135c80836266101f80d4d88352938',
  dotted: 'ca5956565d19c1211bf888a5d93712d7f065092b15546854b7f1ea4e5df864d8',
  emptyBody: 'c748dcc83cdefa513088706c2e534b8deeb2dadeb9d44d711efeb45c6b43e14c',
};

const sentAt = new Date(timestamp * 1_000);
const read = createCallbackReader(secret);

const session = {
  id: 'Shop1234session',
  network: 'aps',
  reference: 'Shop1234reference',
  status: 'complete',
  amount: '100.00',
  currency: 'GMD',
  paid: { gross_amount: '100.00', fee: '0.00', currency: 'GMD', transaction_id: 'T1' },
  payer_number: '+220877012345',
};
const report = JSON.stringify({ id: 'evt_1', type: 'collection.completed', data: session });

function reading(body: string, header: string | string[] | undefined, receivedAt = sentAt): CallbackReading {
  const headers = header === undefined ? {} : { 'sim-signature': header };
  return read({ headers, query: {}, body: Buffer.from(body), receivedAt });
}

/** The vectors' bodies are another network's: a valid signature leads to "malformed". */
const signatureHeld: CallbackReading = { accepted: false, reason: 'malformed' };
const signatureRefused: CallbackReading = { accepted: false, reason: 'signature' };

test('the documented form, timestamp and body without a separator, is accepted', () => {
  assert.deepEqual(reading(vectorBody, `t=${timestamp},v1=${vectors.plain}`), signatureHeld);
  assert.deepEqual(reading('', `t=${timestamp},v1=${vectors.emptyBody}`), signatureHeld);
  assert.equal(signCallback(secret, { sentAt, body: vectorBody }), `t=${timestamp},v1=${vectors.plain}`);
});

test('the dotted form that some guides show is refused', () => {
  assert.deepEqual(reading(vectorBody, `t=${timestamp},v1=${vectors.dotted}`), signatureRefused);
  const dotted = createHmac('sha256', secret).update(`${timestamp}.${report}`).digest('hex');
  assert.deepEqual(reading(report, `t=${timestamp},v1=${dotted}`), signatureRefused);
});

test('one valid signature of several is enough', () => {
  const right = `v1=${vectors.plain}`;
  const wrong = `v1=${'0'.repeat(64)}`;
  assert.deepEqual(reading(vectorBody, `t=${timestamp},${wrong},${right}`), signatureHeld);
  assert.deepEqual(reading(vectorBody, `t=${timestamp},${right},${wrong}`), signatureHeld);
  assert.deepEqual(reading(vectorBody, `t=${timestamp},${wrong},${wrong}`), signatureRefused);
});

test('a callback older than 300 s or more than 30 s in the future is stale, to the second', () => {
  const header = signCallback(secret, { sentAt, body: report });
  assert.equal(reading(report, header, addMs(sentAt, 300_000)).accepted, true);
  assert.deepEqual(reading(report, header, addMs(sentAt, 301_000)), { accepted: false, reason: 'stale' });
  assert.equal(reading(report, header, addMs(sentAt, -30_000)).accepted, true);
  assert.deepEqual(reading(report, header, addMs(sentAt, -31_000)), { accepted: false, reason: 'stale' });
});

test('a signed callback becomes a notification of our reference', () => {
  assert.deepEqual(reading(report, signCallback(secret, { sentAt, body: report })), {
    accepted: true,
    notifications: [
      {
        operation: 'collection',
        reference: 'Shop1234reference',
        response: {
          state: 'succeeded',
          providerTransaction: {
            transactionId: 'T1',
            networkReference: 'Shop1234session',
            amountMinor: 10_000n,
            currency: 'GMD',
            networkFeeMinor: 0n,
            payerNumber: '+220877012345',
          },
        },
      },
    ],
  });
});

test('a signed payout callback becomes a notification of the payout', () => {
  const payout = {
    id: 'Shop1234payout',
    reference: 'Shop1234reference',
    status: 'completed',
    received: { amount: '100.00', fee: '0.50', currency: 'GMD', transaction_id: 'T2' },
  };
  const body = JSON.stringify({ id: 'evt_2', type: 'payout.completed', data: payout });
  const providerTransaction = {
    transactionId: 'T2',
    networkReference: 'Shop1234payout',
    amountMinor: 10_000n,
    currency: 'GMD',
    networkFeeMinor: 50n,
  };
  assert.deepEqual(reading(body, signCallback(secret, { sentAt, body })), {
    accepted: true,
    notifications: [
      {
        operation: 'payout',
        reference: 'Shop1234reference',
        response: { state: 'succeeded', providerTransaction },
      },
    ],
  });
});

test('a payout is never read as a collection, nor a collection as a payout, whatever the type says', () => {
  const payout = {
    ...{ id: 'Shop1234payout', reference: 'Shop1234reference', failure_code: 'no_such_account' },
    received: { amount: '100.00', fee: '0.50', currency: 'GMD', transaction_id: 'T2' },
  };
  for (const status of ['pending', 'completed', 'failed', 'reversed']) {
    const body = JSON.stringify({ type: 'collection.completed', data: { ...payout, status } });
    const notifications = reading(body, signCallback(secret, { sentAt, body }));
    assert.ok(notifications.accepted && notifications.notifications[0]?.response?.state === 'unknown', status);
  }
  for (const status of ['open', 'complete', 'failed', 'expired', 'cancelled', 'reversed']) {
    const data = { ...session, status, failure_code: 'payer_declined' };
    const body = JSON.stringify({ type: 'payout.completed', data });
    const notifications = reading(body, signCallback(secret, { sentAt, body }));
    assert.ok(notifications.accepted && notifications.notifications[0]?.response?.state === 'unknown', status);
  }
});

test('an unknown status becomes a notification that leads to a look-up, never to an outcome', () => {
  const body = JSON.stringify({ data: { ...session, status: 'on_hold' } });
  const notifications = reading(body, signCallback(secret, { sentAt, body }));
  assert.ok(notifications.accepted);
  assert.equal(notifications.notifications[0]?.response?.state, 'unknown');
});

test('a header in any undocumented form is refused', () => {
  const { plain } = vectors;
  const headers = [
    undefined,
    '',
    `v1=${plain}`,
    `t=${timestamp}`,
    `t=,v1=${plain}`,
    `t=${timestamp},v1=`,
    `t=${timestamp},v1=${plain.toUpperCase()}`,
    `t=${timestamp},v1=${plain.slice(2)}`,
    `t=${timestamp},v0=${plain}`,
    `t=${timestamp}, v1=${plain}`,
    `t=${timestamp}.0,v1=${plain}`,
    `t=-${timestamp},v1=${plain}`,
    `t=0${timestamp},v1=${plain}`,
    `t=${timestamp},v1=${plain},t=1`,
    `t=${timestamp},v1=${plain}, t=${timestamp},v1=${plain}`,
    [`t=${timestamp},v1=${plain}`],
  ];
  for (const header of headers) assert.deepEqual(reading(vectorBody, header), signatureRefused, String(header));
});

test('any change of a byte breaks the signature', () => {
  const header = signCallback(secret, { sentAt, body: report });
  for (let index = 0; index < report.length; index += 1) {
    const changed = Buffer.from(report);
    changed[index] = (changed[index] ?? 0) ^ 1;
    const result = read({ headers: { 'sim-signature': header }, query: {}, body: changed, receivedAt: sentAt });
    assert.deepEqual(result, signatureRefused, `byte ${index}`);
  }
});

test('a reader without a secret throws', () => {
  assert.throws(() => createCallbackReader(''), /secret/);
});

test('the reader never throws, whatever the bytes, signed or not', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(`{"data":${text}}`)),
    fc.json().map((text) => Buffer.from(`{"type":"payout.completed","data":${text}}`)),
    fc.dictionary(fc.constantFrom(...Object.keys(session)), fc.jsonValue()).map((fields) => {
      return Buffer.from(JSON.stringify({ data: { ...session, ...fields } }));
    }),
  );
  fc.assert(
    fc.property(anything, fc.option(fc.string()), (bytes, header) => {
      const signature = createHmac('sha256', secret).update(String(timestamp)).update(bytes).digest('hex');
      const headers = { 'sim-signature': header ?? `t=${timestamp},v1=${signature}` };
      const result = read({ headers, query: {}, body: bytes, receivedAt: sentAt });
      if (header !== null) assert.equal(result.accepted, false);
      if (!result.accepted) assert.ok(['signature', 'stale', 'malformed'].includes(result.reason));
    }),
    { numRuns: 2_000 },
  );
});

test('a reversal carries the id of its notification, the same on each delivery; a success carries none', () => {
  const responseTo = (id: string, status: string) => {
    const body = JSON.stringify({ id, type: `collection.${status}`, data: { ...session, status } });
    const reported = reading(body, signCallback(secret, { sentAt, body }));
    return reported.accepted ? reported.notifications[0]?.response : undefined;
  };
  for (const id of ['evt_1', 'evt_1', 'evt_2']) {
    const response = responseTo(id, 'reversed');
    assert.deepEqual(response?.state === 'reversed' && response.reversalId, id);
  }
  assert.equal('reversalId' in (responseTo('evt_1', 'complete') ?? {}), false);
});
