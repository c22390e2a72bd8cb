import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { effort } from '../../../test/harness/effort.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { operate } from '../../../test/harness/operate.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../test/harness/tables.ts';
import { rateLimitCommands } from '../operator/rate-limit-commands.ts';
import { systemRandom } from '../kit/random.ts';
import { createApiKeyText } from '../merchants/api-key.ts';

// The settings' defaults, and a burst of two seconds.
const testRate = 25;
const liveRate = 100;
/** For one of several keys. */
const keyRate = 20;
/** For one address. */
const keylessBurst = 100;
const keylessRate = 10;
const burstSeconds = 2;
/** The tolerance of the limit that processes share. */
const errorMax = 0.05;

const clock = new ManualClock();
let service: TestService;
let second: TestService;
let contract: Contract;
let business: TestBusiness;

before(async () => {
  service = await startService({ clock, settings: { TRUSTED_PROXIES: 'loopback' } });
  second = await startService({ clock, database: service.database });
  contract = await loadContract();
});
after(async () => {
  await second.stop();
  await service.stop();
});
beforeEach(async () => {
  business = await onboardWithRate(null);
});

async function onboardWithRate(rate: number | null): Promise<TestBusiness> {
  const made = await service.onboard();
  const ids = [made.test.merchant.id, made.live.merchant.id];
  await asOwner(service, 'UPDATE merchants SET rate_limit_per_second = $1 WHERE id = ANY ($2)', [rate, ids]);
  return made;
}

/** As the operator does, before the merchant's first request. */
async function setLimits(of: TestBusiness, ...words: string[]): Promise<void> {
  await operate(service, rateLimitCommands, 'rate-limits set', ['--merchant', of.test.merchant.id, ...words]);
}

function clientOf(key: string, of: TestService = service): ApiClient {
  return createContractClient(contract, of.url, key);
}

/** The header fields as draft-ietf-httpapi-ratelimit-headers writes them. */
function limitOf({ headers }: ApiResponse) {
  const [, quota, window] = /^"default";q=(\d+);w=(\d+)$/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  const [, remaining, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
  assert.ok(quota && window && remaining && seconds, `${headers.get('ratelimit-policy')} ${headers.get('ratelimit')}`);
  return { quota: Number(quota), window: Number(window), remaining: Number(remaining), seconds: Number(seconds) };
}

/** Sends to the clients in turn, while time stands still, and returns how many requests were served. */
async function countServed(clients: ApiClient[], requests: number): Promise<number> {
  const responses: ApiResponse[] = [];
  for (let sent = 0; sent < requests; sent += 10) {
    const some = Array.from({ length: 10 }, async (_, index) => {
      const client = clients[(sent + index) % clients.length];
      assert.ok(client);
      return client.get('/v1/webhook-endpoints');
    });
    responses.push(...(await Promise.all(some)));
  }
  for (const { status } of responses) assert.ok(status === 200 || status === 429, String(status));
  return responses.filter(({ status }) => status === 200).length;
}

describe('the rate limit', () => {
  it('allows a burst of two seconds, separately in test (25 a second) and live (100)', async () => {
    assert.equal(await countServed([clientOf(business.test.key)], 60), testRate * burstSeconds);
    assert.equal(await countServed([clientOf(business.live.key)], 210), liveRate * burstSeconds);
    const other = await onboardWithRate(null);
    assert.equal(await countServed([clientOf(other.test.key)], 60), testRate * burstSeconds);
  });

  it('reports the remaining allowance on every response, also on refusals', async () => {
    const api = clientOf(business.live.key);
    const responses = [
      await api.get('/v1/payments'),
      await api.post('/v1/customers', { name: 'Awa Ceesay' }),
      await api.post('/v1/payments', { data: {} }),
      await api.send('POST', '/v1/payments', { body: 'x', headers: { 'content-type': 'text/plain' } }),
      await api.get('/v1/payments/01a1f8ac-4b37-7417-9fed-11d78420f713'),
      await api.send('DELETE', '/v1/payments'),
      await api.post('/v1/payments', { data: { amount: 10 } }, { 'idempotency-key': 'k'.repeat(300) }),
      await api.get('/v1/payments'),
      await api.get('/v1/payments?nonsense=1'),
    ];
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 201, 400, 415, 404, 405, 400, 200, 400],
    );
    for (const [index, response] of responses.entries()) {
      const { quota, window, remaining, seconds } = limitOf(response);
      assert.deepEqual([quota, window, seconds], [liveRate * burstSeconds, burstSeconds, 1]);
      assert.equal(remaining, liveRate * burstSeconds - 1 - index);
    }
  });

  it('refuses with 429 and Retry-After, and serves again after it', async () => {
    const api = clientOf(business.test.key);
    await countServed([api], 60);
    const refused = await api.post('/v1/payments', { data: { amount: 10 } }, { 'idempotency-key': 'limited' });
    assert.deepEqual([refused.status, refused.body['code']], [429, 'rate_limited']);
    assert.match(
      String(refused.body['message']),
      /^All keys of this merchant together may send 25 requests a second\. Wait/,
    );
    const { remaining, seconds } = limitOf(refused);
    const retryAfter = Number(refused.headers.get('retry-after'));
    assert.equal(remaining, 0);
    assert.ok(retryAfter >= seconds && retryAfter <= burstSeconds, `${retryAfter} s`);
    const stored = await countRows(service, business.test.merchant.id, 'payment_intents', 'idempotency_keys');
    assert.deepEqual(stored, { payment_intents: 0, idempotency_keys: 0 });
    await clock.advance(retryAfter * 1_000);
    const later = await api.post('/v1/payments', { data: { amount: 10 } }, { 'idempotency-key': 'limited' });
    assert.deepEqual([later.status, later.headers.get('idempotent-replayed')], [201, null]);
  });

  it('is one for all processes together, within five percent, in a burst and over time', async () => {
    const secondsTried = effort({ usual: 2, long: 8 });
    const test = { key: business.test.key, rate: testRate };
    const live = { key: business.live.key, rate: liveRate };
    for (const { key, rate } of effort({ usual: [test], long: [test, live] })) {
      const clients = [clientOf(key), clientOf(key, second)];
      let served = await countServed(clients, Math.ceil((rate * 2.5) / 10) * 10);
      for (let elapsed = 1; elapsed <= secondsTried; elapsed += 1) {
        await clock.advance(1_000);
        served += await countServed(clients, Math.ceil((rate * 1.4) / 10) * 10);
      }
      const allowed = rate * (burstSeconds + secondsTried);
      assert.ok(Math.abs(served - allowed) <= allowed * errorMax, `${served} of ${allowed} at ${rate} a second`);
    }
  });

  it('counts all keys of a merchant together', async () => {
    const another = await service.newKey(business.test.merchant);
    assert.equal(await countServed([clientOf(business.test.key), clientOf(another)], 60), testRate * burstSeconds);
  });

  it('does not count what it refused, so that a client that keeps trying gets its rate', async () => {
    const api = clientOf(business.test.key);
    await countServed([api], 100);
    await clock.advance(1_000);
    assert.equal(await countServed([api], 30), testRate);
  });

  it('is the merchant’s own if one is set, and none if that is 0', async () => {
    const own = await onboardWithRate(null);
    await setLimits(own, '--requests', '5');
    assert.equal(await countServed([clientOf(own.test.key)], 20), 5 * burstSeconds);
    const free = await onboardWithRate(null);
    await setLimits(free, '--requests', 'none');
    assert.equal(await countServed([clientOf(free.test.key)], 60), 60);
    const { headers } = await clientOf(free.test.key).get('/v1/payments');
    assert.deepEqual([headers.get('ratelimit'), headers.get('ratelimit-policy')], [null, null]);
  });

  it('is not used up by requests without a key', async () => {
    const api = clientOf(business.test.key);
    for (let time = 0; time < 60; time += 1) {
      assert.equal((await knock(newAddress(), { key: `${business.test.key.slice(0, -1)}!` })).status, 401);
    }
    assert.equal(limitOf(await api.get('/v1/payments')).remaining, testRate * burstSeconds - 1);
  });
});

describe('the rate limit of one key', () => {
  it('leaves a fifth of the merchant’s to its other keys, however much one key sends', async () => {
    const [greedy, modest] = [clientOf(business.test.key), clientOf(await service.newKey(business.test.merchant))];
    assert.equal(await countServed([greedy], 60), keyRate * burstSeconds);
    assert.equal(await countServed([modest], 10), 10);
    await clock.advance(1_000);
    assert.equal(await countServed([greedy], 30), keyRate);
    assert.equal(await countServed([modest], 10), testRate - keyRate);
  });

  it('is one for all processes together, within five percent, in a burst and over time', async () => {
    await service.newKey(business.live.merchant);
    const { key } = business.live;
    const rate = liveRate * 0.8;
    const clients = [clientOf(key), clientOf(key, second)];
    const secondsTried = effort({ usual: 1, long: 4 });
    let served = await countServed(clients, rate * 2.5);
    for (let elapsed = 1; elapsed <= secondsTried; elapsed += 1) {
      await clock.advance(1_000);
      served += await countServed(clients, rate * 1.5);
    }
    const allowed = rate * (burstSeconds + secondsTried);
    assert.ok(Math.abs(served - allowed) <= allowed * errorMax, `${served} of ${allowed}`);
  });

  it('is the merchant’s own percentage if the operator has set one', async () => {
    await service.newKey(business.test.merchant);
    await setLimits(business, '--key-percent', '50');
    assert.equal(await countServed([clientOf(business.test.key)], 60), Math.floor(testRate / 2) * burstSeconds);
    const other = await onboardWithRate(null);
    await service.newKey(other.test.merchant);
    await setLimits(other, '--key-percent', '100');
    assert.equal(await countServed([clientOf(other.test.key)], 60), testRate * burstSeconds, 'no limit of its own');
  });

  it('is reported beside the merchant’s, and named in a refusal', async () => {
    await service.newKey(business.test.merchant);
    const api = clientOf(business.test.key);
    const { headers } = await api.get('/v1/payments');
    assert.equal(headers.get('ratelimit-policy'), '"default";q=50;w=2, "key";q=40;w=2');
    assert.equal(headers.get('ratelimit'), '"default";r=49;t=1, "key";r=39;t=1');
    await countServed([api], 60);
    const refused = await api.get('/v1/payments');
    assert.deepEqual([refused.status, refused.body['code']], [429, 'rate_limited']);
    assert.match(
      String(refused.body['message']),
      /^Each of this merchant’s keys may send 20 requests a second\. Wait 1 s/,
    );
    assert.equal(refused.headers.get('ratelimit'), '"key";r=0;t=1');
    assert.equal(refused.headers.get('retry-after'), '1');
  });

  it('ends once the merchant’s other keys are revoked: an only key may use all', async () => {
    const { id: merchantId } = business.test.merchant;
    await service.newKey(business.test.merchant);
    assert.equal(await countServed([clientOf(business.test.key)], 60), keyRate * burstSeconds);
    await asOwner(service, "UPDATE api_keys SET revoked_at = created_at WHERE merchant_id = $1 AND name = 'another'", [
      merchantId,
    ]);
    await clock.advance(5_000);
    assert.equal(await countServed([clientOf(business.test.key)], 60), testRate * burstSeconds);
  });
});

describe('the limit of requests without a valid key', () => {
  it('refuses after a hundred with Retry-After, then allows ten a second', async () => {
    const address = newAddress();
    for (let time = 1; time <= keylessBurst; time += 1) {
      const { status, headers } = await knock(address);
      assert.equal(status, 401);
      assert.equal(headers.get('ratelimit-policy'), '"address";q=100;w=10');
      assert.equal(headers.get('ratelimit'), `"address";r=${keylessBurst - time};t=1`);
    }
    for (const key of [undefined, 'nonsense']) {
      const { status, headers, body } = await knock(address, { key });
      assert.deepEqual([status, body['code'], headers.get('retry-after')], [429, 'rate_limited', '1']);
      assert.match(String(body['message']), /^Too many requests without a valid API key came from your address\./);
      assert.equal(headers.get('ratelimit'), '"address";r=0;t=1');
    }
    await clock.advance(1_000);
    const later = await Promise.all(Array.from({ length: 10 }, () => knock(address)));
    assert.deepEqual(new Set(later.map(({ status }) => status)), new Set([401]));
    assert.equal((await knock(address)).status, 429);
  });

  it('still looks up twenty new keys, then two a second, and none that was wrong before', async (t) => {
    const address = newAddress();
    const rowReads = t.mock.method(service.db, 'row');
    const newKey = () => createApiKeyText(systemRandom, true);
    const wrong = newKey();
    for (let time = 0; time < keylessBurst; time += 1) assert.equal((await knock(address, { key: wrong })).status, 401);
    assert.equal(rowReads.mock.callCount(), keylessBurst);
    for (let time = 0; time < 10; time += 1) assert.equal((await knock(address, { key: wrong })).status, 429);
    assert.equal(rowReads.mock.callCount(), keylessBurst);
    for (let time = 0; time < 20; time += 1) assert.equal((await knock(address, { key: newKey() })).status, 401);
    for (let time = 0; time < 5; time += 1) assert.equal((await knock(address, { key: newKey() })).status, 429);
    assert.equal(rowReads.mock.callCount(), keylessBurst + 20);
  });

  it('admits a valid key new to this process, while its address floods with a wrong one', async () => {
    const address = newAddress();
    const wrong = createApiKeyText(systemRandom, true);
    for (let time = 0; time <= keylessBurst; time += 1) await knock(address, { key: wrong });
    const key = await service.newKey(business.test.merchant);
    assert.equal((await knock(address, { key: wrong })).status, 429);
    assert.equal((await knock(address, { key })).status, 200);
  });

  it('admits a key that was valid a moment ago, until it is revoked', async () => {
    const address = newAddress();
    const { key, merchant } = business.test;
    assert.equal((await knock(address, { key })).status, 200);
    for (let time = 0; time <= keylessBurst; time += 1) await knock(address);
    // Longer than keys are cached.
    await clock.advance(4_000);
    for (let time = 0; time < 4 * keylessRate; time += 1) await knock(address);
    assert.equal((await knock(address)).status, 429);
    assert.equal((await knock(address, { key })).status, 200);
    await asOwner(service, 'UPDATE api_keys SET revoked_at = created_at WHERE merchant_id = $1', [merchant.id]);
    await clock.advance(5_000);
    for (let time = 0; time < 5 * keylessRate; time += 1) await knock(address);
    assert.deepEqual([(await knock(address, { key })).status, (await knock(address, { key })).status], [401, 429]);
  });

  it('counts each IPv4 address separately, and an IPv6 network of 2^64 addresses as one', async () => {
    const spread = Array.from({ length: keylessBurst }, (_, index) => `2001:db8:5:1::${index.toString(16)}`);
    for (const address of spread) assert.equal((await knock(address)).status, 401);
    assert.equal((await knock('2001:db8:5:1:ffff::1')).status, 429);
    assert.equal((await knock('2001:db8:5:2::1')).status, 401);
    assert.equal((await knock(newAddress())).status, 401);
  });

  it('uses the last untrusted address of X-Forwarded-For, and only from a trusted proxy', async () => {
    for (let time = 0; time < keylessBurst; time += 1) {
      assert.equal((await knock(`198.51.100.${time}, 203.0.113.9`)).status, 401);
    }
    assert.equal((await knock('198.51.100.200, 203.0.113.9')).status, 429);
    // The other process trusts no proxy: whatever the header says, it is one address.
    for (let time = 0; time < keylessBurst; time += 1) await knock(newAddress(), { of: second });
    assert.equal((await knock(newAddress(), { of: second })).status, 429);
  });
});

let addressesUsed = 0;

function newAddress(): string {
  addressesUsed += 1;
  return `192.0.2.${addressesUsed}`;
}

/** Sends a request from this client address, as a proxy in front of the service reports it. */
async function knock(
  forwardedFor: string,
  { key, of = service }: { key?: string | undefined; of?: TestService } = {},
): Promise<Pick<ApiResponse, 'status' | 'headers' | 'body'>> {
  const headers = { 'x-forwarded-for': forwardedFor, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${of.url}/v1/webhook-endpoints`, { headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ApiResponse['body'] };
}
