import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startService, type TestBusiness, type TestService } from '../../test/harness/service.ts';
import { CliWorld, unusedUrl } from '../run-cli.corpus.ts';

let service: TestService;
let business: TestBusiness;
const worlds: CliWorld[] = [];

before(async () => {
  service = await startService();
  business = await service.onboard();
});

after(async () => {
  for (const world of worlds) await world.close();
  await service.stop();
});

function newWorld(): CliWorld {
  const world = new CliWorld();
  worlds.push(world);
  return world;
}

const keysFile = (world: CliWorld) => join(world.directory, 'config/dalasi/keys.json');

async function used(world: CliWorld, settings: Record<string, string> = {}, words: string[] = []) {
  const { code, stdout } = await world.run(['keys', '--json', ...words], settings);
  return { code, ...(JSON.parse(stdout) as { used: Record<string, unknown> | null; saved: unknown[] }) };
}

test('a key from standard input is saved for its owner only, replaced, removed, and never shown whole', async () => {
  const world = newWorld();
  const { key } = business.test;
  const saved = await world.run(['keys', 'save', 'shop', '--url', service.url], {}, `${key}\n`);
  assert.equal(saved.code, 0, saved.stderr);
  assert.equal(statSync(keysFile(world)).mode & 0o777, 0o600);
  assert.equal(statSync(join(world.directory, 'config/dalasi')).mode & 0o777, 0o700);
  const another = await service.newKey(business.test.merchant);
  const file = join(world.directory, 'another.txt');
  writeFileSync(file, `${another}\n`);
  const fromFile = ['keys', 'save', 'other', '--url', service.url, '--key-file', file];
  assert.equal((await world.run(fromFile)).code, 0);
  assert.equal((await used(world)).used?.['source'], 'the saved key other');
  assert.equal((await world.run(['keys', 'use', 'shop'])).code, 0);
  const shown = await world.run(['keys']);
  assert.match(
    shown.stdout,
    new RegExp(`^sk_test_…${key.slice(-4)}, from the saved key shop, at ${service.url}$`, 'm'),
  );
  assert.equal(shown.code, 0);
  assert.equal((await world.run(['keys', 'remove', 'shop'])).code, 0);
  assert.equal((await used(world)).used, null);
  for (const { stdout, stderr } of [saved, shown]) assert.ok(!(stdout + stderr).includes(key), 'masked');
  assert.ok(!readFileSync(keysFile(world), 'utf8').includes(key), 'gone');
});

test('keys prints the owner of the key, and ends with 1 when the service refuses the key', async () => {
  const world = newWorld();
  const { key, merchant } = business.test;
  const settings = { DALASI_API_KEY: key, DALASI_URL: service.url };
  const first = await world.run(['trigger', 'charge.succeeded'], settings);
  assert.equal(first.code, 0, first.stderr);
  const mine = await used(world, settings);
  assert.equal(mine.code, 0);
  assert.deepEqual(mine.used, {
    key: `sk_test_…${key.slice(-4)}`,
    source: 'DALASI_API_KEY',
    url: service.url,
    test_mode: true,
    works: true,
    business_id: merchant.businessId,
    account_id: merchant.id,
    problem: null,
  });
  const stranger = await startService();
  const { test: strangers } = await stranger.onboard();
  await stranger.stop();
  const refused = await used(world, { DALASI_API_KEY: strangers.key, DALASI_URL: service.url });
  assert.deepEqual([refused.code, refused.used?.['works']], [1, false]);
  const away = await used(world, settings, ['--url', await unusedUrl()]);
  assert.deepEqual([away.code, away.used?.['works']], [1, false]);
  assert.match(String(away.used?.['problem']), /^No server listens at http:\/\/127\.0\.0\.1:\d+\. Start the service/);
});

test('the key comes from a file, else the environment, else the saved key, else the demo', async () => {
  const world = newWorld();
  const keys = await Promise.all(Array.from({ length: 4 }, () => service.newKey(business.test.merchant)));
  const [demo = '', saved = '', environment = '', file = ''] = keys;
  const demoFile = join(world.directory, 'data/demo.json');
  mkdirSync(join(world.directory, 'data'));
  writeFileSync(demoFile, JSON.stringify({ base_url: service.url, secret_key: demo, webhook_secret: 'wh_x' }));
  const seen = async (settings: Record<string, string> = {}, words: string[] = []) => {
    const { code, used: found } = await used(world, settings, words);
    return [code, String(found?.['key']).slice(-4), found?.['source']];
  };
  assert.deepEqual(await seen(), [0, demo.slice(-4), demoFile]);
  await world.run(['keys', 'save', 'mine', '--url', service.url], {}, saved);
  assert.deepEqual(await seen(), [0, saved.slice(-4), 'the saved key mine']);
  const settings = { DALASI_API_KEY: environment, DALASI_URL: service.url };
  assert.deepEqual(await seen(settings), [0, environment.slice(-4), 'DALASI_API_KEY']);
  const keyFile = join(world.directory, 'key.txt');
  writeFileSync(keyFile, `${file}\n`);
  assert.deepEqual(await seen(settings, ['--key-file', keyFile]), [0, file.slice(-4), keyFile]);
});

test('an unusable key is refused with one sentence, and nothing is saved', async () => {
  const world = newWorld();
  const { key } = business.test;
  const liveKey = business.live.key;
  const cases: [string[], string, number, RegExp][] = [
    [['keys', 'save', 'shop'], 'sk_test_tooshort', 1, /^This is not an API key/],
    [['keys', 'save', 'shop'], '', 1, /^This is not an API key/],
    [['keys', 'save', key], '', 2, /^This is the key itself/],
    [['keys', 'save', '__proto__'], key, 2, /^A name is 1 to 50 letters/],
    [['keys', 'save', 'shop', '--url', 'localhost'], key, 2, /is not the address of a service/],
    [['keys', 'save', 'shop', '--url', 'http://pay.example.gm'], liveKey, 2, /^A live key is not sent over plain HTTP/],
    [['keys', 'use', 'nobody'], '', 1, /^No key is saved as "nobody"\. None is saved\.$/],
    [['keys', 'remove', 'nobody'], '', 1, /^No key is saved as "nobody"/],
  ];
  for (const [words, input, expected, sentence] of cases) {
    const { code, stderr, stdout } = await world.run(words, {}, input);
    assert.equal(code, expected, words.join(' '));
    assert.match(stderr.trim(), sentence);
    assert.ok(!(stdout + stderr).includes(key));
  }
  assert.deepEqual((await used(world)).saved, []);
});

test('a saved key is not overwritten without --replace', async () => {
  const world = newWorld();
  const save = ['keys', 'save', 'shop', '--url', service.url];
  await world.run(save, {}, business.test.key);
  const another = await service.newKey(business.test.merchant);
  const refused = await world.run(save, {}, another);
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, 'A key is already saved as shop. Choose another name, or add --replace.\n'],
  );
  assert.equal((await world.run([...save, '--replace'], {}, another)).code, 0);
  assert.equal((await used(world)).used?.['key'], `sk_test_…${another.slice(-4)}`);
});

test('a key file that other users can read is refused', async () => {
  const world = newWorld();
  await world.run(['keys', 'save', 'shop', '--url', service.url], {}, business.test.key);
  chmodSync(keysFile(world), 0o644);
  const { code, stderr } = await world.run(['keys']);
  assert.deepEqual(
    [code, stderr],
    [1, `Other users of this machine can read ${keysFile(world)}. Run: chmod 600 ${keysFile(world)}\n`],
  );
});
