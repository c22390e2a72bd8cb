import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { addMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { tryBeginPrompt, endPrompt, purgePrompts } from './prompt-limits.ts';

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let numbers = 0;
let number: string;

const minuteMs = 60_000;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
});

beforeEach(() => {
  clock = new ManualClock();
  numbers += 1;
  number = `+220877${String(numbers).padStart(6, '0')}`;
});

after(async () => {
  await db.close();
  await database.drop();
});

const chargeId = '0193f1b0-0000-7000-8000-000000000001';
const otherChargeId = '0193f1b0-0000-7000-8000-000000000002';

function begin(network: string, openForMs = 30 * minuteMs): Promise<boolean> {
  return tryBeginPrompt(db, clock, { network, number, chargeId }, addMs(clock.now(), openForMs));
}

function end(network: string): Promise<void> {
  return endPrompt(db, clock, { network, number, chargeId });
}

test('a network has one open prompt for a number, and the next once it has ended', async () => {
  assert.equal(await begin('wave'), true);
  assert.equal(await begin('wave'), false);
  assert.equal(await begin('aps'), true, 'another wallet is another prompt');
  await end('wave');
  assert.equal(await begin('wave'), true);
});

test('a prompt without a reply ends with its time', async () => {
  assert.equal(await begin('wave', minuteMs), true);
  await clock.advance(minuteMs - 1);
  assert.equal(await begin('wave'), false);
  await clock.advance(1);
  assert.equal(await begin('wave'), true);
});

test('a number gets at most ten prompts an hour over all networks', async () => {
  for (let time = 0; time < 10; time += 1) {
    assert.equal(await begin(`wallet-${time}`), true, String(time));
    await clock.advance(minuteMs);
  }
  assert.equal(await begin('wave'), false);
  await clock.advance(50 * minuteMs);
  assert.equal(await begin('wave'), true, 'an hour after the first');
});

test('ten prompts an hour count over any sixty minutes, not over clock hours', async () => {
  assert.equal(await begin('wallet-first'), true);
  await clock.advance(59 * minuteMs);
  for (let time = 0; time < 9; time += 1) assert.equal(await begin(`wallet-${time}`), true, String(time));
  await clock.advance(minuteMs);
  assert.equal(await begin('wave'), true, 'the first is an hour old');
  assert.equal(await begin('aps'), false, 'the nine of a minute ago are not');
});

test('the end of a charge does not close the prompt that another charge has opened since', async () => {
  assert.equal(await begin('wave', minuteMs), true);
  await clock.advance(minuteMs);
  const other = { network: 'wave', number, chargeId: otherChargeId };
  assert.equal(await tryBeginPrompt(db, clock, other, addMs(clock.now(), minuteMs)), true);
  await end('wave');
  assert.equal(await begin('wave'), false);
});

test('a prompt beyond the hourly limit is not left open', async () => {
  for (let time = 0; time < 10; time += 1) await begin(`wallet-${time}`);
  await clock.advance(50 * minuteMs);
  assert.equal(await begin('wave'), false);
  await clock.advance(10 * minuteMs);
  assert.equal(await begin('wave'), true);
});

test('the prompts of one number do not count for another', async () => {
  assert.equal(await begin('wave'), true);
  const other = { network: 'wave', number: `${number}0`, chargeId };
  assert.equal(await tryBeginPrompt(db, clock, other, addMs(clock.now(), minuteMs)), true);
});

test('of many concurrent prompts at one network one opens, and over many networks ten', async () => {
  const same = await Promise.all(Array.from({ length: 8 }, () => begin('wave')));
  assert.equal(same.filter(Boolean).length, 1);
  await clock.advance(60 * minuteMs);
  const different = await Promise.all(Array.from({ length: 20 }, (_, index) => begin(`wallet-${index}`)));
  assert.equal(different.filter(Boolean).length, 10);
});

test('a prompt is deleted once no limit counts it, and not before', async () => {
  // Rows of other tests in this file go first.
  await clock.advance(24 * 60 * minuteMs);
  await purgePrompts({ db, clock });
  assert.equal(await begin('wave', 180 * minuteMs), true);
  await clock.advance(120 * minuteMs);
  assert.equal(await purgePrompts({ db, clock }), 0, 'two hours old to the millisecond, and open');
  await clock.advance(1);
  assert.equal(await purgePrompts({ db, clock }), 1, 'the number’s times');
  assert.equal(await begin('wave'), false, 'its prompt is still open');
  await clock.advance(180 * minuteMs);
  assert.equal(await purgePrompts({ db, clock }), 1, 'now the prompt too');
  assert.equal(await begin('wave'), true);
});
