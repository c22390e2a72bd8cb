import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { readConfig } from '../configuration/config.ts';
import type { Database } from '../kit/db.ts';
import { systemRandom } from '../kit/random.ts';
import { readSecrets } from '../configuration/secrets.ts';
import { acceptPepper, acceptSealKey, retireSealKeys } from './accept-keys.ts';
import {
  claimPepper,
  compareKeys,
  openKeyring,
  readKeyState,
  type KeyEvidence,
  type Keyring,
  type KeyringParts,
} from './keyring.ts';

const [one, two, three] = ['1a', '2b', '3c'].map((byte) => byte.repeat(32)) as [string, string, string];

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
/** What a database from before the checks tells; a new one tells nothing. */
let evidence: KeyEvidence;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
  clock = new ManualClock();
  evidence = { openNewestSealed: async () => 'none', hasHashedKeys: async () => false };
});

afterEach(async () => {
  await db.close();
  await database.drop();
});

interface Keys {
  seal?: string;
  old?: string;
  pepper?: string;
}

function partsOf({ seal = one, old = '', pepper = one }: Keys): KeyringParts {
  const config = readConfig({ SEAL_KEY: seal, SEAL_KEYS_OLD: old, KEY_PEPPER: pepper });
  const { sealer, checks, firstIdSecret } = readSecrets(config, systemRandom);
  return { db, clock, sealer, checks, firstIdSecret, evidence };
}

const start = (keys: Keys = {}): Promise<Keyring> => openKeyring(partsOf(keys));

/** What the database holds was sealed with this key, and API keys are stored under this pepper. */
function isFromBefore(sealed: string): void {
  const foreign = partsOf({ seal: sealed }).sealer.seal('wh_secret', 'an endpoint');
  evidence = {
    hasHashedKeys: async () => true,
    openNewestSealed: async (_db, sealer) => {
      try {
        sealer.open(foreign, 'an endpoint');
        return 'opened';
      } catch {
        return 'closed';
      }
    },
  };
}

const wrongSealKey = /^StartError: SEAL_KEY is not the key that this database was sealed with: .*SEAL_KEYS_OLD.*\.$/;
const wrongPepper = /^StartError: KEY_PEPPER is not the one that the API keys of this database are stored under; .*\.$/;

test('a new database takes the keys of its first start, and refuses others with a sentence', async () => {
  assert.equal((await (await start()).state()).pepper, 'right');
  await start();
  await assert.rejects(start({ seal: two }), wrongSealKey);
  await assert.rejects(start({ pepper: two }), wrongPepper);
  await start();
});

test('of two concurrent first starts with different keys, one succeeds', async () => {
  const outcomes = await Promise.allSettled([start(), start({ seal: two, pepper: two })]);
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('of two concurrent first peppers, one is recorded before anything depends on the other', async () => {
  const claims = await Promise.allSettled([one, two].map((pepper) => claimPepper(partsOf({ pepper }))));
  assert.deepEqual(claims.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const pepper = claims[0]?.status === 'fulfilled' ? one : two;
  assert.equal((await readKeyState(db, partsOf({ pepper }).checks)).pepper, 'right');
});

test('a check value is not the key, and differs for two settings with the same key', async () => {
  await start();
  const rows = await db.rows<{ value: string; setting: string }>({
    name: 'test_checks',
    text: "SELECT setting, encode(check_value, 'hex') AS value FROM key_checks",
    values: [],
  });
  assert.equal(rows.length, 2);
  // The same bytes were given for both settings.
  assert.equal(new Set([one, ...rows.map(({ value }) => value)]).size, 3);
});

describe('a database without check values', () => {
  test('refuses a seal key that does not open what is stored, and writes nothing down of it', async () => {
    isFromBefore(two);
    await assert.rejects(start(), /^StartError: SEAL_KEY does not open what this database has sealed; .*\.$/);
    await start({ seal: two });
    await assert.rejects(start(), wrongSealKey);
  });

  test('records configured older keys as keys in use', async () => {
    isFromBefore(one);
    await start({ seal: two, old: one });
    await assert.rejects(start({ seal: two }), wrongSealKey);
  });

  test('verifies the pepper at the first API key found under it, and not before', async () => {
    isFromBefore(one);
    const keyring = await start();
    assert.equal((await keyring.state()).pepper, 'unverified');
    assert.equal((await (await start({ pepper: two })).state()).pepper, 'unverified', 'another one is not yet wrong');
    await keyring.recordPepperVerified();
    assert.equal((await keyring.state()).pepper, 'right');
    await assert.rejects(start({ pepper: two }), wrongPepper);
  });

  test('accepts the pepper that the operator accepts, also in place of another', async () => {
    isFromBefore(one);
    await start();
    for (const pepper of [one, two]) {
      await db.withTransaction((tx) => acceptPepper(tx, partsOf({ pepper })));
      await start({ pepper });
    }
    await assert.rejects(start(), wrongPepper);
  });

  test('never verifies a second pepper', async () => {
    isFromBefore(one);
    const [right, wrong] = [await start(), await start({ pepper: two })];
    await right.recordPepperVerified();
    await wrong.recordPepperVerified();
    assert.equal((await wrong.state()).pepper, 'wrong');
    await start();
  });
});

describe('a seal key that is rotated', () => {
  test('requires the old one until nothing is sealed with it', async () => {
    await start();
    await assert.rejects(start({ seal: two }), wrongSealKey);
    await start({ seal: two, old: one });
    await assert.rejects(start({ seal: two }), wrongSealKey);
    await assert.rejects(start(), wrongSealKey, 'it could not open what is sealed from now on');
    const parts = partsOf({ seal: two, old: one });
    const keyOne = partsOf({ seal: one }).sealer.keyId;
    assert.deepEqual(await db.withTransaction((tx) => retireSealKeys(tx, parts, new Set([keyOne]))), []);
    await assert.rejects(start({ seal: two }), wrongSealKey);
    assert.deepEqual(await db.withTransaction((tx) => retireSealKeys(tx, parts, new Set())), [keyOne]);
    await assert.rejects(start({ seal: three }), wrongSealKey);
  });

  test('leaves the secret behind payment method ids as it was', async () => {
    const { idSecret } = await start();
    assert.equal((await start({ seal: two, old: one })).idSecret, idSecret);
  });

  test('is noticed by a process that has the old one only, within five seconds', async () => {
    const running = await start();
    assert.deepEqual((await running.state()).missingSealKeys, []);
    await start({ seal: two, old: one });
    await clock.advance(5_000);
    assert.deepEqual((await running.state()).missingSealKeys, [partsOf({ seal: two }).sealer.keyId]);
  });

  test('stops a process that has the old one only from sealing, within five seconds of its next look', async () => {
    const { sealer } = await start();
    await sealer.prepare();
    await start({ seal: two, old: one });
    await clock.advance(5_000);
    await sealer.prepare();
    assert.throws(() => sealer.seal('a secret', 'an endpoint'), { code: 'unavailable', retryAfterSeconds: 1 });
  });

  test('does not seal in a process that has not checked its key for 30 seconds', async () => {
    const { sealer } = await start();
    await clock.advance(30_000);
    assert.equal(sealer.open(sealer.seal('a secret', 'a'), 'a').toString(), 'a secret');
    await clock.advance(1);
    assert.throws(() => sealer.seal('a secret', 'a'), { code: 'unavailable' });
    await sealer.prepare();
    sealer.seal('a secret', 'a');
  });

  test('is recorded again while a process still seals with it', async () => {
    const running = await start({ seal: one, old: two });
    const parts = partsOf({ seal: two, old: one });
    await openKeyring(parts);
    await db.withTransaction((tx) => retireSealKeys(tx, parts, new Set()));
    await clock.advance(5_000);
    await running.sealer.prepare();
    running.sealer.seal('a secret', 'an endpoint');
    await assert.rejects(start({ seal: two }), wrongSealKey);
  });

  test('is not recorded again by a process that lacks the new one, which stays unready', async () => {
    const running = await start();
    const parts = partsOf({ seal: two, old: one });
    await openKeyring(parts);
    await db.withTransaction((tx) => retireSealKeys(tx, parts, new Set()));
    await clock.advance(5_000);
    assert.deepEqual((await running.state()).missingSealKeys, [parts.sealer.keyId]);
    assert.deepEqual((await readKeyState(db, partsOf({ seal: two }).checks)).missingSealKeys, []);
  });

  test('is not recorded by a process that only compares, which cannot seal with it', async () => {
    const { idSecret } = await start();
    const compared = await compareKeys(partsOf({ seal: two, old: one }));
    assert.equal(compared.idSecret, idSecret);
    assert.throws(() => compared.sealer.seal('a secret', 'an endpoint'), /^StartError: .* with this SEAL_KEY, .*\.$/);
    await start();
    const inUse = await compareKeys(partsOf({}));
    assert.equal(inUse.sealer.open(inUse.sealer.seal('a secret', 'a'), 'a').toString(), 'a secret');
    await assert.rejects(compareKeys(partsOf({ seal: two })), wrongSealKey);
  });

  test('that is lost is replaced once the operator accepts another, with a new id secret', async () => {
    const { idSecret } = await start();
    const { lostSecrets, lostKeys } = await db.withTransaction((tx) => acceptSealKey(tx, partsOf({ seal: two })));
    assert.deepEqual([lostSecrets, lostKeys], [['ids'], [partsOf({ seal: one }).sealer.keyId]]);
    assert.notEqual((await start({ seal: two })).idSecret, idSecret);
    await assert.rejects(start(), wrongSealKey);
  });

  for (const old of ['', two]) {
    test(`stays lost while a process has it, ${old ? 'beside the new one too' : 'which is unready'}`, async () => {
      const running = await start({ seal: one, old });
      await db.withTransaction((tx) => acceptSealKey(tx, partsOf({ seal: two })));
      await clock.advance(5_000);
      assert.equal((await running.state()).isSealingLost, true);
      assert.throws(() => running.sealer.seal('a secret', 'an endpoint'), { code: 'unavailable' });
      await start({ seal: two });
    });
  }

  test('that is lost is used again only after the operator accepts it', async () => {
    await start();
    await db.withTransaction((tx) => acceptSealKey(tx, partsOf({ seal: two })));
    const found = { seal: one, old: two };
    await assert.rejects(start(found), /^StartError: SEAL_KEY is a key that was declared lost .*SEAL_KEYS_OLD\.$/);
    await start({ seal: two, old: one });
    await db.withTransaction((tx) => acceptSealKey(tx, partsOf(found)));
    await start(found);
  });
});
