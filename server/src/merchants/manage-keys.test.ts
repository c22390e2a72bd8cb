import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, type TestBusiness, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import type { AppError } from '../api/app-error.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { systemRandom } from '../kit/random.ts';
import type { NewKey } from './key-rights.ts';
import { createApiKey, listKeys, revokeApiKey, rollApiKey } from './manage-keys.ts';

// What a process did not know when it cached the key holds everywhere within five seconds.
const knownAfterMs = 5_000;
const hourMs = dayMs / 24;

const clock = new ManualClock();
let service: TestService;
let second: TestService;
let business: TestBusiness;
let merchant: TestMerchant;

before(async () => {
  service = await startService({ clock, settings: { TRUSTED_PROXIES: 'loopback' } });
  second = await startService({ clock, database: service.database });
  business = await service.onboard();
  merchant = business.test;
});
after(async () => {
  await second.stop();
  await service.stop();
});

const newId = () => uuidV7(clock, systemRandom);

function contextOf() {
  return { clock, random: systemRandom, newId, pepper: service.secrets.pepper };
}

function create(key: Partial<NewKey> = {}, of = merchant) {
  return createApiKey(service.db, contextOf(), of.merchant, { name: 'Till', ...key });
}

function roll(id: string, overlapMs?: number, of = merchant) {
  return service.db.withTransaction((tx) => rollApiKey(tx, contextOf(), of.merchant, { id, overlapMs }));
}

function revoke(id: string) {
  return service.db.withTransaction((tx) => revokeApiKey(tx, clock, { merchantId: merchant.merchant.id, id }));
}

async function listed(id: string, of = merchant) {
  const found = (await listKeys(service.db, clock, of.merchant)).find((key) => key.id === id);
  assert.ok(found);
  return found;
}

/** The status of each of the two processes for the key. */
async function statuses(key: string): Promise<number[]> {
  const responses = await Promise.all(
    [service, second].map(({ url }) => createApiClient(url, key).get('/v1/payments')),
  );
  return responses.map(({ status }) => status);
}

async function refusalOf(key: Partial<NewKey>): Promise<string> {
  const error = await create(key).then(
    () => assert.fail('it was created'),
    (refused: unknown) => refused as { code: string; fields: { path: string; message: string }[] },
  );
  return [error.code, ...error.fields.map(({ path, message }) => `${path}: ${message}`)].join(' ');
}

describe('a key that expires', () => {
  it('works on every process until that moment and not at it, however recently it was used', async () => {
    const { text, record } = await create({ expiresAt: addMs(clock.now(), hourMs) });
    assert.equal((await listed(record.id)).state, 'expires');
    await clock.jump(hourMs - 1);
    assert.deepEqual(await statuses(text), [200, 200]);
    await clock.advance(1);
    assert.deepEqual(await statuses(text), [401, 401]);
    assert.equal((await listed(record.id)).state, 'expired');
    const { body } = await createApiClient(service.url, text).get('/v1/payments');
    assert.equal(body['code'], 'api_key_invalid');
    assert.match(String(body['message']), /expired/);
  });

  it('leaves its merchant’s other key the whole rate limit once it has expired', async () => {
    const { test, live } = await service.onboard('Brikama Bakery');
    await create({ expiresAt: addMs(clock.now(), hourMs) }, live);
    const holders = async () => {
      const { headers } = await createApiClient(service.url, live.key).get('/v1/payments');
      return headers.get('ratelimit-policy');
    };
    await service.db.run({
      name: 'test_limit',
      text: 'UPDATE merchants SET rate_limit_per_second = 10 WHERE id = $1 OR id = $2',
      values: [live.merchant.id, test.merchant.id],
    });
    assert.match(String(await holders()), /"key"/);
    await clock.jump(hourMs);
    assert.doesNotMatch(String(await holders()), /"key"/);
  });
});

describe('rolling a key', () => {
  for (const [overlapMs, description] of [
    [0, 'at once'],
    [hourMs, 'an hour later'],
    [7 * dayMs, 'seven days later'],
  ] as const) {
    it(`gives a key that works at once, and ends the old one ${description}, everywhere within 5 s`, async () => {
      const old = await create();
      assert.deepEqual(await statuses(old.text), [200, 200]);
      const rolled = await roll(old.record.id, overlapMs);
      assert.deepEqual(await statuses(rolled.text), [200, 200]);
      assert.deepEqual(rolled.previous.expiresAt, addMs(clock.now(), overlapMs));
      if (overlapMs === 0) {
        await clock.advance(knownAfterMs);
      } else {
        await clock.jump(overlapMs - 1);
        assert.deepEqual(await statuses(old.text), [200, 200]);
        await clock.advance(1);
      }
      assert.deepEqual(await statuses(old.text), [401, 401]);
      assert.deepEqual(await statuses(rolled.text), [200, 200]);
      const { state, rolledTo } = await listed(old.record.id);
      assert.deepEqual([state, rolledTo], ['expired', rolled.record.id]);
    });
  }

  it('takes over name, scopes and addresses, and the time to live from now on', async () => {
    const rights = { scopes: ['read', 'payout'], addresses: ['192.0.2.7', '2001:db8::/32'] };
    const { record } = await create({ name: 'Payroll', ...rights, expiresAt: addMs(clock.now(), 30 * dayMs) });
    await clock.jump(10 * dayMs);
    const rolled = await roll(record.id);
    const { name, scopes, addresses, expiresAt } = await listed(rolled.record.id);
    assert.deepEqual({ name, scopes, addresses }, { name: 'Payroll', ...rights });
    assert.deepEqual(expiresAt, addMs(clock.now(), 30 * dayMs));
    assert.deepEqual((await listed(record.id)).expiresAt, addMs(clock.now(), dayMs), 'a day, unless chosen');
  });

  it('never lets the old key live longer than it would have', async () => {
    const expiresAt = addMs(clock.now(), hourMs);
    const { record } = await create({ expiresAt });
    const { previous } = await roll(record.id, dayMs);
    assert.deepEqual(previous.expiresAt, expiresAt);
  });

  it('twice at once makes one new key; the other is refused', async () => {
    const { record } = await create({ name: 'Raced' });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => roll(record.id)));
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    assert.equal(refusals.length, 4);
    for (const { code, message } of refusals) {
      assert.deepEqual([code, message], ['state_conflict', 'This key was rolled already. Roll the new one.']);
    }
    const keys = (await listKeys(service.db, clock, merchant.merchant)).filter(({ name }) => name === 'Raced');
    assert.equal(keys.length, 2);
  });

  it('is refused for a key that is revoked, has expired, or belongs to another merchant', async () => {
    const revoked = await create();
    await revoke(revoked.record.id);
    await assert.rejects(roll(revoked.record.id), { code: 'state_conflict', message: /revoked/ });
    const expired = await create({ expiresAt: addMs(clock.now(), 1) });
    await clock.advance(1);
    await assert.rejects(roll(expired.record.id), { code: 'state_conflict', message: /expired/ });
    const { record } = await create();
    await assert.rejects(roll(record.id, 0, business.live), { code: 'not_found' });
    await assert.rejects(roll('not an id'), { code: 'not_found' });
  });

  it('has an overlap of 0 seconds to 7 days', async () => {
    const { record } = await create();
    for (const overlapMs of [-1, 7 * dayMs + 1, 0.5, Number.NaN]) {
      const isNamed = (error: AppError) => error.code === 'invalid_request' && error.fields?.[0]?.path === 'overlap';
      await assert.rejects(roll(record.id, overlapMs), isNamed);
    }
    assert.equal((await listed(record.id)).rolledTo, null);
  });

  it('does not keep the old key from being revoked before the overlap ends', async () => {
    const old = await create();
    const rolled = await roll(old.record.id, dayMs);
    await revoke(old.record.id);
    await clock.advance(knownAfterMs);
    assert.deepEqual(await statuses(old.text), [401, 401]);
    assert.deepEqual(await statuses(rolled.text), [200, 200]);
  });
});

describe('a new key', () => {
  it('is refused with the field that is wrong', async () => {
    const now = clock.now();
    assert.match(await refusalOf({ name: ' ' }), /^invalid_request name: /);
    assert.match(await refusalOf({ name: 'x'.repeat(201) }), /^invalid_request name: /);
    assert.match(await refusalOf({ name: 'two\nlines' }), /^invalid_request name: /);
    assert.match(await refusalOf({ scopes: [] }), /^invalid_request scopes: /);
    assert.match(await refusalOf({ scopes: ['read', 'admin'] }), /^invalid_request scopes: .*read, charge, payout/);
    assert.match(await refusalOf({ expiresAt: now }), /^invalid_request expires_at: /);
    assert.match(await refusalOf({ expiresAt: new Date(Number.NaN) }), /^invalid_request expires_at: /);
    assert.match(await refusalOf({ addresses: [] }), /^invalid_request addresses: /);
    assert.match(await refusalOf({ addresses: ['192.0.2.7/24'] }), /^invalid_request addresses: "192.0.2.7\/24" /);
    assert.match(await refusalOf({ addresses: Array(51).fill('192.0.2.7') }), /^invalid_request addresses: /);
  });

  it('has each scope and address once, in one form', async () => {
    const scopes = ['payout', 'read', 'payout'];
    const { record } = await create({ scopes, addresses: ['::ffff:192.0.2.7', '192.0.2.7', '2001:DB8::/32'] });
    const { scopes: stored, addresses } = await listed(record.id);
    assert.deepEqual(stored, ['read', 'payout']);
    assert.deepEqual(addresses, ['192.0.2.7', '2001:db8::/32']);
  });
});

describe('a key with addresses', () => {
  /** Through the trusted proxy of the first process. */
  const sendFrom = (key: string, address: string, path = '/v1/payments') =>
    createApiClient(service.url, key).send('GET', path, { headers: { 'x-forwarded-for': address } });

  it('works from these in every spelling, and is refused from others without naming them', async () => {
    const { text } = await create({ addresses: ['192.0.2.7', '2001:db8:1::/48'] });
    for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207', '2001:db8:1:2::3', '2001:DB8:1::1']) {
      assert.equal((await sendFrom(text, address)).status, 200, address);
    }
    for (const address of ['192.0.2.8', '2001:db8:2::1', 'unknown', '::ffff:192.0.2.8']) {
      const { status, body, text: response } = await sendFrom(text, address);
      assert.deepEqual([status, body['code']], [403, 'address_not_allowed'], address);
      assert.doesNotMatch(response, /192\.0\.2|2001:db8/i);
    }
    assert.deepEqual(await statuses(text), [403, 403], 'from this machine');
  });

  it('believes no address that a client writes itself', async () => {
    const { text } = await create({ addresses: ['192.0.2.7'] });
    const headers = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' };
    // The second process trusts no proxy.
    const { status } = await createApiClient(second.url, text).send('GET', '/v1/payments', { headers });
    assert.equal(status, 403);
  });

  it('costs the merchant no rate limit when it is refused, and its thief soon gets 429', async () => {
    const { text } = await create({ addresses: ['192.0.2.7'] });
    assert.equal((await sendFrom(text, '192.0.2.7')).status, 200);
    const statusesSeen: number[] = [];
    for (let sent = 0; sent < 120; sent += 1) statusesSeen.push((await sendFrom(text, '203.0.113.9')).status);
    assert.deepEqual([...new Set(statusesSeen)], [403, 429]);
    assert.equal((await sendFrom(text, '192.0.2.7')).status, 200);
  });
});

describe('the list of keys', () => {
  it('warns of a live key with the scope payout that was not used for 90 days', async () => {
    const { live, test } = await service.onboard('Serekunda Shoes');
    const [payout, reading, used] = [
      await create({ scopes: ['read', 'payout'] }, live),
      await create({ scopes: ['read', 'charge'] }, live),
      await create({}, live),
    ];
    const inTest = await create({}, test);
    await clock.jump(90 * dayMs - 1);
    assert.equal((await listed(payout.record.id, live)).state, 'active');
    assert.deepEqual(await statuses(used.text), [200, 200]);
    await service.app.drain();
    await clock.advance(1);
    const states = async () =>
      Promise.all([payout, reading, used].map(async ({ record }) => (await listed(record.id, live)).state));
    assert.deepEqual(await states(), ['idle', 'active', 'active']);
    assert.equal((await listed(inTest.record.id, test)).state, 'active');
    await clock.jump(90 * dayMs);
    assert.deepEqual(await states(), ['idle', 'active', 'idle']);
    assert.deepEqual(await statuses(payout.text), [200, 200], 'idle is a warning, not an end');
  });
});
