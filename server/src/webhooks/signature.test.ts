import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../kit/clock.ts';
import { seededRandom } from '../kit/random.ts';
import { newSecret } from './endpoint-secret.ts';
import { signatureHeaders } from './signature.ts';

const header = 'x-service-signature';
const id = '0193b7a0-0000-7000-8000-000000000001';
const body = Buffer.from('{"id":"0193","amount":9007199254740993.10,"name":"Ŋ 🙂"}');

/** Made from counted bytes, so that the repository holds no secret. */
function countedSecret(first: number): string {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => first + index);
  return `wh_${Buffer.from(bytes).toString('base64')}`;
}

const oldSecret = countedSecret(0);
const newerSecret = countedSecret(100);

// Computed once with Python's hmac, hashlib and base64, from the secrets, the body and 2025-11-20T12:00:00Z.
const vectors = {
  old: {
    service:
      'f1983f7ff779e29a7838be7e22fc81e741df2626a415c890ffd39b9706b8de16' +
      'b907a3db8c5b1520dd77cd9c6bd55838226f62b76e766ba0457cb61b958ece7f',
    standard: 'v1,h+k1+aPdv9LGp76SG0h5lPAw3wCcV/qb5VOHulbwwb4=',
  },
  newer: {
    service:
      'a6e0f8d689a97d2bcf1f064caaadfa56cafb1ac6498aedf540acd577fe7a0bee' +
      'ce3e1c67f0891866ea9901968eb23348c3d453b6d49454789b254702bfb4ae2c',
    standard: 'v1,ZutIPAHa1/6V39zPzsED8DM1gftjdwICaiDyoeAmh2s=',
  },
};

const message = { id, sentAt: new Date('2025-11-20T12:00:00.900Z'), body };

/** A third implementation: the browser's WebCrypto, as a receiver at the edge would use it. */
async function verifiesService(raw: Uint8Array<ArrayBuffer>, hex: string, secret: string): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-512' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, Buffer.from(hex, 'hex'), raw);
}

describe('the signature of a webhook', () => {
  it('equals the signature that other programs compute', () => {
    assert.deepEqual(signatureHeaders(message, { current: oldSecret, previous: null }, header), {
      [header]: vectors.old.service,
      'webhook-id': id,
      'webhook-timestamp': '1763640000',
      'webhook-signature': vectors.old.standard,
    });
  });

  it('holds both secrets during a rotation, and the old one in the header for one', () => {
    const headers = signatureHeaders(message, { current: newerSecret, previous: oldSecret }, header);
    assert.equal(headers['webhook-signature'], `${vectors.newer.standard} ${vectors.old.standard}`);
    assert.equal(headers[header], vectors.old.service);
    const afterwards = signatureHeaders(message, { current: newerSecret, previous: null }, header);
    assert.equal(afterwards['webhook-signature'], vectors.newer.standard);
    assert.equal(afterwards[header], vectors.newer.service);
  });

  it('verifies with the Standard Webhooks library and either secret during a rotation', () => {
    const sentAt = systemClock.now();
    const headers = signatureHeaders({ id, sentAt, body }, { current: newerSecret, previous: oldSecret }, header);
    for (const secret of [oldSecret, newerSecret]) {
      assert.deepEqual(new Webhook(secret.slice('wh_'.length)).verify(body, headers), JSON.parse(body.toString()));
    }
    assert.throws(() => new Webhook(countedSecret(1).slice(3)).verify(body, headers), /No matching signature/);
  });

  it('fails when any byte of the body is changed', async () => {
    const sentAt = systemClock.now();
    const headers = signatureHeaders({ id, sentAt, body }, { current: oldSecret, previous: null }, header);
    const library = new Webhook(oldSecret.slice('wh_'.length));
    assert.equal(await verifiesService(Uint8Array.from(body), headers[header] ?? '', oldSecret), true);
    for (let index = 0; index < body.length; index += 1) {
      const mutated = Uint8Array.from(body);
      mutated[index] = (mutated[index] ?? 0) ^ 1;
      assert.equal(await verifiesService(mutated, headers[header] ?? '', oldSecret), false, `byte ${index}`);
      // As text: the library takes no other bytes.
      assert.throws(() => library.verify(Buffer.from(mutated), headers, { jsonParse: false }), /No matching signature/);
    }
  });

  it('fails when the id, the time or the signature is changed', () => {
    const sentAt = systemClock.now();
    const headers = signatureHeaders({ id, sentAt, body }, { current: oldSecret, previous: null }, header);
    const library = new Webhook(oldSecret.slice('wh_'.length));
    const otherTime = String(Number(headers['webhook-timestamp']) + 1);
    assert.throws(() => library.verify(body, { ...headers, 'webhook-id': `${id}0` }));
    assert.throws(() => library.verify(body, { ...headers, 'webhook-timestamp': otherTime }));
    assert.throws(() => library.verify(body, { ...headers, 'webhook-signature': vectors.newer.standard }));
  });

  it('is never made with an empty, short or malformed secret', () => {
    for (const current of ['', 'wh_', 'wh_c2hvcnQ=', newerSecret.slice(3)]) {
      assert.throws(() => signatureHeaders(message, { current, previous: null }, header), /webhook secret/, current);
    }
  });
});

describe('a new secret', () => {
  it('is wh_ and 32 random bytes, as Standard Webhooks libraries accept it', () => {
    const random = seededRandom('secrets');
    const secret = newSecret(random);
    assert.match(secret, /^wh_[0-9A-Za-z+/]{43}=$/);
    assert.notEqual(newSecret(random), secret);
    assert.doesNotThrow(() => new Webhook(secret.slice('wh_'.length)));
  });
});
