import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import type { Queryable } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { systemRandom } from '../kit/random.ts';
import { createApiKeyText } from './api-key.ts';
import { createKeyAuthenticator } from './authenticate-key.ts';
import { createApiKey, listKeys, revokeApiKey } from './manage-keys.ts';

// Revoked keys are refused everywhere within five seconds.
const refusedAfterMs = 5_000;

const clock = new ManualClock();
let service: TestService;
let second: TestService;
let merchant: TestMerchant;

before(async () => {
  service = await startService({ clock });
  second = await startService({ clock, database: service.database });
  merchant = (await service.onboard()).test;
});
after(async () => {
  await second.stop();
  await service.stop();
});

function newKey(name: string) {
  const context = {
    clock,
    random: systemRandom,
    newId: () => uuidV7(clock, systemRandom),
    pepper: service.secrets.pepper,
  };
  return createApiKey(service.db, context, merchant.merchant, { name });
}

function revoke(id: string, merchantId = merchant.merchant.id) {
  return service.db.withTransaction((tx) => revokeApiKey(tx, clock, { merchantId, id }));
}

/** The status of each of the two processes for the key. */
async function statuses(key: string): Promise<number[]> {
  const responses = await Promise.all(
    [service, second].map(({ url }) => createApiClient(url, key).get('/v1/payments')),
  );
  return responses.map(({ status }) => status);
}

describe('an API key', () => {
  it('works at once on every process, beside the merchant’s other keys', async () => {
    const { text } = await newKey('Till');
    assert.deepEqual(await statuses(text), [200, 200]);
    assert.deepEqual(await statuses(merchant.key), [200, 200]);
  });

  it('used a moment ago is refused on every process five seconds after it was revoked', async () => {
    const { text, record } = await newKey('Lost');
    assert.deepEqual(await statuses(text), [200, 200]);
    await revoke(record.id);
    await clock.advance(refusedAfterMs);
    assert.deepEqual(await statuses(text), [401, 401]);
    assert.deepEqual(await statuses(merchant.key), [200, 200], 'the other keys go on');
  });

  it('stays revoked, with the time of its first revocation', async () => {
    const { record } = await newKey('Twice');
    const at = clock.now();
    await revoke(record.id);
    await clock.advance(1_000);
    assert.deepEqual((await revoke(record.id)).revokedAt, at);
    const found = (await listKeys(service.db, clock, merchant.merchant)).find(({ id }) => id === record.id);
    assert.deepEqual([found?.revokedAt, found?.state], [at, 'revoked']);
  });

  it('of another merchant cannot be revoked by its id', async () => {
    const { text, record } = await newKey('Kept');
    const stranger = await service.onboard('Serekunda Shoes');
    const refusal = { code: 'not_found' };
    await assert.rejects(revoke(record.id, stranger.test.merchant.id), refusal);
    await assert.rejects(revoke('not an id'), refusal);
    await clock.advance(refusedAfterMs);
    assert.deepEqual(await statuses(text), [200, 200]);
  });

  it('is shown once: only its last four characters and a hash are stored', async () => {
    const { text, record } = await newKey('Shown once');
    assert.equal(record.lastFour, text.slice(-4));
    const listed = JSON.stringify(await listKeys(service.db, clock, merchant.merchant));
    assert.ok(listed.includes(text.slice(-4)) && !listed.includes(text.slice(8, 40)));
  });

  it('that is mistyped is refused without a query', async () => {
    const lookedUp: string[] = [];
    const refuse = async (statement: { name: string }): Promise<never> => {
      lookedUp.push(statement.name);
      throw new Error('the database was asked');
    };
    const db: Queryable = { rows: refuse, row: refuse, run: refuse };
    const authenticator = createKeyAuthenticator(db, clock, service.secrets.pepper);
    const { key } = merchant;
    for (const mistyped of [
      '',
      'x',
      key.slice(0, -1),
      `${key.slice(0, -1)}!`,
      key.replace('test', 'live'),
      `${key}x`,
    ]) {
      assert.equal(await authenticator.find(mistyped), 'invalid');
    }
    assert.deepEqual(lookedUp, []);
    await assert.rejects(authenticator.find(createApiKeyText(systemRandom, true)), /the database was asked/);
  });

  it('that does not exist is looked up each time, so that one created later works', async () => {
    const lookups: string[] = [];
    const row: Queryable['row'] = async (statement) => {
      lookups.push(statement.name);
      return service.db.row(statement);
    };
    const authenticator = createKeyAuthenticator({ ...service.db, row }, clock, service.secrets.pepper);
    const unknown = createApiKeyText(systemRandom, true);
    for (let time = 1; time <= 3; time += 1) assert.equal(await authenticator.find(unknown), 'invalid');
    assert.equal(lookups.length, 3);
    const { key } = merchant;
    for (let time = 1; time <= 3; time += 1) {
      const holder = await authenticator.find(key);
      assert.equal(typeof holder === 'object' && holder.merchant.id, merchant.merchant.id);
    }
    assert.equal(lookups.length, 5, 'a known key is remembered');
  });
});
