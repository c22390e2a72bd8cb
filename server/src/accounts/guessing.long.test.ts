import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { client, openAccountWorld, password, type AccountWorld } from './account-world.corpus.ts';
import { signIn, VisitorLimit } from './sign-in.ts';

let world: AccountWorld;

before(async () => {
  world = await openAccountWorld('guessing');
});

after(() => world.close());

const quarterMs = 15 * 60_000;
const guesses = 1_000;
/** An address of its own for each: 198.18.0.0/15 is for tests of networks. */
const addressOf = (number: number): string => `198.18.${number >> 8}.${number & 255}`;

/** Whether the password was compared, which a wait prevents. */
async function guess(email: string, secret: string, address: string): Promise<boolean> {
  const credentials = { email, password: secret, client: { ...client, address }, knownDevice: null };
  const error: unknown = await signIn(world.context, 'merchant', credentials).then(
    () => assert.fail('a guess signed in'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError, String(error));
  assert.ok(error.code === 'rate_limited' || /do not match/.test(error.message), error.message);
  return error.code !== 'rate_limited';
}

test(`${guesses} passwords for one login: ten are compared, then one per growing wait`, async () => {
  const email = 'guessed@example.gm';
  await world.addOwner(email);
  const comparedAt: number[] = [];
  const everyMs = 10_000;
  for (let number = 0; number < guesses; number += 1) {
    if (await guess(email, `guess number ${number}`, addressOf(number))) comparedAt.push(number * everyMs);
    await world.clock.advance(everyMs);
  }
  const waits = comparedAt.slice(10).map((at, index) => at - (comparedAt[index + 9] ?? 0));
  assert.deepEqual(
    comparedAt.slice(0, 10),
    Array.from({ length: 10 }, (_, number) => number * everyMs),
  );
  // Rounded up to the next guess.
  assert.deepEqual(waits.slice(0, 5), [30_000, 60_000, 120_000, 240_000, 480_000]);
  assert.ok(
    waits.slice(5).every((wait) => wait === quarterMs),
    String(waits),
  );
  assert.ok(comparedAt.length < 30, `${comparedAt.length} were compared in three hours`);
  await world.clock.advance(quarterMs);
  assert.ok(await world.signIn(email, password), 'its owner is not locked out');
});

test(`one password for ${guesses} logins: a process compares its burst, and nobody is locked`, async () => {
  const email = 'sprayed@example.gm';
  await world.addOwner(email);
  const limit = new VisitorLimit(world.context);
  let passed = 0;
  for (let number = 0; number < guesses; number += 1) {
    try {
      limit.take(addressOf(number));
      passed += 1;
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'rate_limited');
      continue;
    }
    const to = number === 0 ? email : `sprayed-${number}@example.gm`;
    assert.equal(await guess(to, 'Password123!', addressOf(number)), true);
  }
  assert.equal(passed, 200);
  assert.ok(await world.signIn(email, password));
});

test('signing in to a known and to an unknown login takes the same time within 5 ms', async (context) => {
  const rounds = 100;
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let round = 0; round < rounds; round += 1) await world.addOwner(`known-${round}@example.gm`);
  for (let round = 0; round < rounds; round += 1) {
    // In turns, and each first every other time, so that what else the machine does burdens both.
    const kinds = round % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of kinds) {
      const began = performance.now();
      await guess(`${kind}-${round}@example.gm`, 'not this one', addressOf(round));
      times[kind].push(performance.now() - began);
    }
  }
  const median = (of: number[]): number => of.toSorted((a, b) => a - b)[of.length >> 1] ?? 0;
  const [known, unknown] = [median(times.known), median(times.unknown)];
  context.diagnostic(`medians: known ${known.toFixed(1)} ms, unknown ${unknown.toFixed(1)} ms`);
  assert.ok(Math.abs(known - unknown) < 5, `${known} and ${unknown} ms`);
});
