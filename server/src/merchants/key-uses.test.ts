import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { addMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { KeyUses } from './key-uses.ts';
import { listKeys } from './manage-keys.ts';

const minuteMs = 60_000;

const clock = new ManualClock();
let service: TestService;
let merchant: TestMerchant;

before(async () => {
  service = await startService({ clock, settings: { TRUSTED_PROXIES: 'loopback' } });
});
after(() => service.stop());

async function onboard(): Promise<void> {
  merchant = (await service.onboard()).test;
}

async function lastUse() {
  const [key] = await listKeys(service.db, clock, merchant.merchant);
  assert.ok(key);
  return key.lastUse && { usedAt: key.lastUse.usedAt, address: key.lastUse.address };
}

function use(from: string, path = '/v1/payments') {
  const headers = { 'x-forwarded-for': from };
  return createApiClient(service.url, merchant.key).send('GET', path, { headers });
}

/** Counts the writes; fails while `isAway`. */
function countingDatabase() {
  const counted = { writes: 0, isAway: false };
  const run: Queryable['run'] = async (statement) => {
    counted.writes += 1;
    if (counted.isAway) throw new Error('the database is away');
    return service.db.run(statement);
  };
  return { counted, db: { ...service.db, run } };
}

describe('the last use of a key', () => {
  before(onboard);

  it('is recorded within a minute, with time and address, also of a request that was refused', async () => {
    assert.equal(await lastUse(), null);
    await use('192.0.2.7');
    await clock.advance(1_000);
    const usedAt = clock.now();
    assert.equal((await use('::ffff:192.0.2.9', '/v1/payments?unknown=1')).status, 400);
    await clock.advance(minuteMs);
    await eventually('the use is recorded', async () => (await lastUse()) !== null);
    assert.deepEqual(await lastUse(), { usedAt, address: '192.0.2.9' });
  });

  it('has no address where a proxy passes on something that is none', async () => {
    await use('somebody');
    await service.app.drain();
    assert.deepEqual(await lastUse(), { usedAt: clock.now(), address: null });
  });

  it('is recorded when the process ends', async () => {
    const other = await startService({ clock, database: service.database });
    await clock.advance(1_000);
    await createApiClient(other.url, merchant.key).get('/v1/payments');
    await other.stop();
    assert.deepEqual((await lastUse())?.usedAt, clock.now());
  });
});

describe('uses of keys', () => {
  const useAt = (usedAt: Date) => ({ merchantId: merchant.merchant.id, keyId, usedAt, address: '192.0.2.7' });
  let keyId: string;

  before(async () => {
    await onboard();
    const [key] = await listKeys(service.db, clock, merchant.merchant);
    assert.ok(key);
    keyId = key.id;
  });

  it('cost one write, however many there were', async () => {
    const { counted, db } = countingDatabase();
    const uses = new KeyUses(db);
    for (let ms = 0; ms < 1_000; ms += 1) uses.note(useAt(addMs(clock.now(), ms)));
    assert.equal(counted.writes, 0);
    await uses.write();
    await uses.write();
    assert.equal(counted.writes, 1);
    assert.deepEqual((await lastUse())?.usedAt, addMs(clock.now(), 999));
  });

  it('that could not be written are written later', async () => {
    await clock.advance(minuteMs);
    const { counted, db } = countingDatabase();
    const uses = new KeyUses(db);
    counted.isAway = true;
    uses.note(useAt(clock.now()));
    await assert.rejects(uses.write(), /away/);
    counted.isAway = false;
    await uses.write();
    assert.deepEqual((await lastUse())?.usedAt, clock.now());
  });

  it('that another process recorded earlier than it happened do not replace a later one', async () => {
    const uses = new KeyUses(service.db);
    const latest = addMs(clock.now(), 5_000);
    for (const usedAt of [latest, clock.now()]) {
      uses.note(useAt(usedAt));
      await uses.write();
    }
    assert.deepEqual((await lastUse())?.usedAt, latest);
  });

  it('noted while they are written are written next time', async () => {
    await clock.advance(minuteMs);
    const later = addMs(clock.now(), 1_000);
    const uses: KeyUses = new KeyUses({
      ...service.db,
      run: async (statement) => {
        if (statement.values[2] !== later) uses.note(useAt(later));
        return service.db.run(statement);
      },
    });
    uses.note(useAt(clock.now()));
    await uses.write();
    assert.deepEqual((await lastUse())?.usedAt, clock.now());
    await uses.write();
    assert.deepEqual((await lastUse())?.usedAt, later);
  });
});
