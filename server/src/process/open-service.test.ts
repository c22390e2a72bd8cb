import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startDatabaseServer, type DatabaseServer } from '../../../test/harness/database-server.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { overTcp, startStartingDatabase, type StartingDatabase } from '../../../test/harness/tcp-proxy.ts';
import { testKeys } from '../../../test/harness/service.ts';
import { readConfig } from '../configuration/config.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { createServiceLog } from '../api/service-log.ts';
import { openServiceDatabase, type OpenedDatabase } from './open-service.ts';
import { systemRandom } from '../kit/random.ts';
import { readSecrets } from '../configuration/secrets.ts';

const waiting = 'The database is still starting; waiting for it, up to 30 seconds.';

let databases: DatabaseServer;
let front: StartingDatabase | undefined;

before(async () => {
  databases = await startDatabaseServer();
});

afterEach(async () => {
  await front?.close();
  front = undefined;
});

after(() => databases.stop());

/** A start on the database at this address, and what it has told the operator so far. */
function open(
  url: string,
  keys: Record<string, string> = testKeys,
): { clock: ManualClock; logged: string[]; opening: Promise<OpenedDatabase> } {
  const clock = new ManualClock();
  const logged: string[] = [];
  const config = readConfig({ APP_ENV: 'development', DATABASE_URL: url, ...keys });
  const opening = openServiceDatabase(config, {
    clock,
    log: createServiceLog({ level: 'silent' }),
    logStartup: (sentence) => logged.push(sentence),
    secrets: readSecrets(config, systemRandom),
  });
  // A test that expects the refusal comes to it later.
  opening.catch(() => {});
  return { clock, logged, opening };
}

/** Until it waits; a start that has failed instead fails the test. */
function untilWaiting({ clock, opening }: Pick<ReturnType<typeof open>, 'clock' | 'opening'>): Promise<unknown> {
  return Promise.race([clock.untilSleeping(1), opening]);
}

test('a start waits for a database that recovers, says so once, and goes on when it is there', async () => {
  const url = await databases.createMigratedDatabase();
  front = await startStartingDatabase('57P03', 'the database system is starting up');
  const start = open(overTcp(url, front.port));
  for (let look = 1; look <= 3; look += 1) {
    await untilWaiting(start);
    assert.equal(front.refused(), look, 'one look every half second');
    assert.deepEqual(start.logged, [waiting]);
    if (look < 3) await start.clock.advance(500);
  }
  front.finish({ host: '127.0.0.1', port: Number(new URL(url).port) });
  await start.clock.advance(500);
  const opened = await start.opening;
  await opened.close();
  assert.deepEqual(
    start.logged.filter((sentence) => !sentence.startsWith('Applied ')),
    [waiting],
  );
});

describe('a database whose KEY_PEPPER is not verified', () => {
  const withPepper = (digit: string) => ({ ...testKeys, KEY_PEPPER: digit.repeat(64) });
  let url: string;

  beforeEach(async () => {
    url = await databases.createMigratedDatabase();
    await (await open(url).opening).close();
    // As a version from before the key checks leaves it: somebody's credential is stored, and no check value.
    await withAdminClient(url, (client) =>
      client.query(
        `DELETE FROM key_checks;
         INSERT INTO operators (id, name, credential_hmac, pepper_version, created_at)
         VALUES (gen_random_uuid(), 'Awa', '\\x00', 1, now())`,
      ),
    );
  });

  test('keeps the serving role’s password when a process with a wrong pepper starts', async () => {
    const opened = await open(url).opening;
    await assert.rejects(open(url, withPepper('a')).opening, /^StartError: The role .* has another password .*\.$/);
    await opened.close();
    await (await open(url).opening).close();
  });

  test('gives the role a new password once the operator has accepted the pepper', async () => {
    const keys = withPepper('a');
    const { checks } = readSecrets(readConfig({ ...keys, APP_ENV: 'development' }), systemRandom);
    await withAdminClient(url, (client) =>
      client.query("INSERT INTO key_checks (setting, check_value, created_at) VALUES ('KEY_PEPPER', $1, now())", [
        checks.pepper.value,
      ]),
    );
    await (await open(url, keys).opening).close();
  });
});

test('a database that has not started within half a minute ends the start with one sentence', async () => {
  front = await startStartingDatabase('57P03', 'the database system is starting up');
  const start = open(`postgresql://a:b@127.0.0.1:${front.port}/x`);
  for (let look = 0; look < 60; look += 1) {
    await untilWaiting(start);
    await start.clock.advance(500);
  }
  await assert.rejects(
    start.opening,
    /^StartError: The database at 127\.0\.0\.1:\d+ cannot be used: the database system is starting up\.$/,
  );
  assert.deepEqual([start.logged, front.refused()], [[waiting], 61]);
});

test('any other refusal, and a port where nobody listens, ends the start at once', async () => {
  front = await startStartingDatabase('53300', 'sorry, too many clients already');
  const refused = open(`postgresql://a:b@127.0.0.1:${front.port}/x`);
  await assert.rejects(refused.opening, /StartError: .* cannot be used: sorry, too many clients already\.$/);
  const absent = open('postgresql://a:b@127.0.0.1:1/x');
  await assert.rejects(absent.opening, /StartError: .* cannot be used: ECONNREFUSED\.$/);
  assert.deepEqual([refused.logged, absent.logged, front.refused()], [[], [], 1]);
});
