import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import { createServiceLog } from '../api/service-log.ts';
import type { SendOutcome } from './circuit-breaker.ts';
import {
  acquirePayoutPermit,
  BreakerCopy,
  payoutBreakers,
  purgeBreakers,
  reportArrival,
  reportPayout,
  summarizeBreakers,
  type BreakerContext,
  type PayoutBreakers,
  type PayoutPermit,
} from './payout-breakers.ts';
import { createNetworkRegistry } from './registry.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';

const merchantId = '01939f00-0000-7000-8000-00000000a5f1';
const number = '+2207001234';
const payout = { merchantId, number };

const liveWave = new ScriptedNetwork('wave', { testMode: false, railAccount: 'wave-main' });
const testWave = new ScriptedNetwork('wave', {}, { breakerScope: 'merchant_and_number' });
const liveAps = new ScriptedNetwork('aps', { testMode: false, railAccount: 'aps-main' });
const wave = payoutBreakers(liveWave, payout);
// The call's timeout plus two seconds.
const leaseMs = 5_000;

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let logged: string[];
let statements: number;
let one: BreakerContext;
let other: BreakerContext;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
});

beforeEach(async () => {
  await db.run({ name: 'test_empty', text: 'DELETE FROM circuit_breakers', values: [] });
  clock = new ManualClock();
  logged = [];
  statements = 0;
  [one, other] = [newProcess(), newProcess()];
});

after(async () => {
  await db.close();
  await database.drop();
});

/** A process on the shared database, with its own copy. */
function newProcess(): BreakerContext {
  const log = createServiceLog({ level: 'info', write: (line) => logged.push(line) });
  return { db: counting(db), clock, log, breakers: new BreakerCopy() };
}

function counting(inner: Database): Queryable {
  const count = <Result>(result: Result): Result => {
    statements += 1;
    return result;
  };
  return {
    rows: (statement) => count(inner.rows(statement)),
    row: (statement) => count(inner.row(statement)),
    run: (statement) => count(inner.run(statement)),
  };
}

async function refused(context: BreakerContext, point = wave): Promise<Extract<PayoutPermit, { allowed: false }>> {
  const permit = await acquirePayoutPermit(context, point);
  assert.ok(!permit.allowed, 'it was allowed');
  return permit;
}

/** Reports the outcome and returns when the next send may go out. */
async function retryAfter(context: BreakerContext, outcome: SendOutcome): Promise<Date> {
  await reportPayout(context, wave, outcome);
  return (await refused(context)).retryAt;
}

async function allowed(context: BreakerContext, point = wave): Promise<void> {
  assert.deepEqual(await acquirePayoutPermit(context, point), { allowed: true });
}

/** How many of several concurrent sends in two processes are allowed. */
async function allowedOf(count: number, point = wave): Promise<number> {
  const requested = Array.from({ length: count }, (_, index) =>
    acquirePayoutPermit(index % 2 === 0 ? one : other, point),
  );
  return (await Promise.all(requested)).filter((permit) => permit.allowed).length;
}

/** Both processes read the rows again: a copy lives for a second. */
async function everybodyKnows(): Promise<void> {
  await clock.advance(1_000);
}

test('while every breaker is closed payouts cost one statement a second, however many there are', async () => {
  for (let second = 0; second < 3; second += 1) {
    for (let send = 0; send < 200; send += 1) {
      await allowed(one);
      await reportPayout(one, wave, 'answered');
    }
    await clock.advance(1_000);
  }
  assert.equal(statements, 3);
});

test('a documented reason opens the breaker for every process, within a second', async () => {
  await allowed(one);
  await allowed(other);
  const retryAt = await retryAfter(one, 'network_unavailable');
  assert.deepEqual(retryAt, addMs(clock.now(), 2_000));
  const expected = { allowed: false, reason: 'network_unavailable', retryAt } as const;
  assert.deepEqual(await acquirePayoutPermit(one, wave), expected, 'the one that received it knows at once');
  await everybodyKnows();
  assert.deepEqual(await acquirePayoutPermit(other, wave), expected);
  await allowed(other, payoutBreakers(liveAps, payout));
  await allowed(other, payoutBreakers(testWave, payout));
});

test('sends without an answer are counted over all processes', async () => {
  for (const context of [one, other, one, other]) await reportPayout(context, wave, 'unclear');
  await allowed(one);
  await reportPayout(one, wave, 'unclear');
  assert.equal((await refused(one)).reason, 'network_unavailable');
});

test('concurrent sends without a response are each counted, and open the breaker once', async () => {
  const reports = Array.from({ length: 12 }, (_, index) =>
    reportPayout(index % 2 === 0 ? one : other, wave, 'unclear'),
  );
  await Promise.all(reports);
  await refused(one);
  assert.equal(logged.filter((line) => /payouts are paused/.test(line)).length, 1);
});

test('a response in between resets the count, also when another process got it', async () => {
  for (let send = 0; send < 4; send += 1) await reportPayout(one, wave, 'unclear');
  await reportPayout(other, wave, 'answered');
  for (let send = 0; send < 4; send += 1) await reportPayout(one, wave, 'unclear');
  await allowed(one);
});

test('at the retry time one send of all processes is the trial; the others check again in a second', async () => {
  await reportPayout(one, wave, 'network_unavailable');
  await clock.advance(1_999);
  assert.equal(await allowedOf(20), 0);
  await clock.advance(1);
  assert.equal(await allowedOf(20), 1);
  assert.deepEqual((await refused(one)).retryAt, addMs(clock.now(), 1_000));
  assert.deepEqual((await refused(other)).retryAt, addMs(clock.now(), 1_000));
});

test('a successful trial closes the breaker at once in every process', async () => {
  await reportPayout(one, wave, 'network_unavailable');
  await clock.advance(2_000);
  await allowed(other);
  await reportPayout(other, wave, 'answered');
  assert.equal(await allowedOf(20), 20);
});

test('a failed trial keeps the breaker open longer, and no other failure does', async () => {
  await reportPayout(one, wave, 'network_unavailable');
  await clock.advance(2_000);
  await allowed(one);
  const retryAt = await retryAfter(one, 'network_unavailable');
  assert.deepEqual(retryAt, addMs(clock.now(), 4_000));
  // A send that was in flight before the breaker opened.
  await clock.advance(10);
  assert.deepEqual(await retryAfter(other, 'network_unavailable'), retryAt);
  await clock.advance(3_990);
  assert.equal(await allowedOf(10), 1);
});

test('a network that recovers after five seconds is detected within two more', async () => {
  const backAt = addMs(clock.now(), 5_000);
  let sentAt = clock.now();
  let retryAt = await retryAfter(one, 'network_unavailable');
  for (let trial = 0; trial < 10; trial += 1) {
    await clock.advance(retryAt.getTime() - clock.now().getTime());
    await allowed(one);
    sentAt = clock.now();
    if (sentAt >= backAt) break;
    retryAt = await retryAfter(one, 'network_unavailable');
  }
  assert.ok(sentAt.getTime() - backAt.getTime() <= 2_000, sentAt.toISOString());
});

test('a trial whose process died is replaced when its lease ends', async () => {
  await reportPayout(one, wave, 'network_unavailable');
  await clock.advance(2_000);
  await allowed(one);
  await clock.advance(leaseMs - 1);
  await refused(other);
  await clock.advance(1);
  assert.equal(await allowedOf(10), 1);
});

test('an open breaker is logged once when it opens and once when it closes, without any number', async () => {
  const point = payoutBreakers(testWave, payout);
  await Promise.all([one, other, one, other].map((context) => reportPayout(context, point, 'float_empty')));
  await everybodyKnows();
  await clock.advance(29_000);
  assert.equal(await allowedOf(4, point), 1);
  await reportPayout(one, point, 'float_empty');
  await Promise.all([one, other, one].map((context) => reportPayout(context, point, 'answered')));
  const reported = logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    reported.map((line) => [line['level'], line['msg'], line['network'], line['reason'], line['merchant_id']]),
    [
      ['warn', 'payouts are paused', 'rail-wave', 'float_empty', merchantId],
      ['info', 'payouts resumed', 'rail-wave', 'float_empty', merchantId],
    ],
  );
  assert.doesNotMatch(logged.join(), /7001234/);
});

test('where breakers are for one merchant and number, no other payout is held back', async () => {
  const point = (change: Partial<typeof payout>): PayoutBreakers => payoutBreakers(testWave, { ...payout, ...change });
  await reportPayout(one, point({}), 'network_unavailable');
  await refused(one, point({}));
  await allowed(one, point({ number: '+2207001235' }));
  await allowed(one, point({ merchantId: '01939f00-0000-7000-8000-00000000a5f2' }));
});

test('the summary lists networks that pay out, and counts open breakers of merchants and of numbers', async () => {
  const collectsOnly = Object.assign(new ScriptedNetwork('qmoney'), { payouts: null });
  const networks = createNetworkRegistry([collectsOnly, testWave, liveWave, liveAps]);
  await reportPayout(one, wave, 'float_empty');
  await reportPayout(one, payoutBreakers(testWave, payout), 'network_unavailable');
  for (let send = 0; send < 5; send += 1) await reportPayout(one, payoutBreakers(liveAps, payout), 'unclear');
  const { networks: found, numberCount } = await summarizeBreakers({ ...one, networks });
  assert.deepEqual(
    found.map(({ capabilities, open, merchantCount }) => [
      capabilities.railAccount,
      open?.reason ?? null,
      merchantCount,
    ]),
    [
      ['wave-main', 'float_empty', 0],
      ['aps-main', null, 1],
      ['rail-wave', null, 0],
    ],
  );
  assert.equal(numberCount, 1);
});

test('however many test numbers fail, the open breaker of a live network is retained', async () => {
  const retryAt = await retryAfter(one, 'float_empty');
  await clock.advance(1_000);
  await db.run({
    name: 'test_many_pauses',
    text: `INSERT INTO circuit_breakers (network, test_mode, rail_account, scope, state, reason, opened_at, retry_at,
             failed_trials, failures_in_a_row, failed_merchants, version, updated_at)
           SELECT 'wave', true, 'rail-wave', 'm:' || number, 'open', 'network_unavailable', $1, $1, 0, 0, '{}', 1, $1
           FROM generate_series(1, 1000) AS number`,
    values: [clock.now()],
  });
  assert.deepEqual(await refused(other), { allowed: false, reason: 'float_empty', retryAt });
  const networks = createNetworkRegistry([liveWave]);
  assert.equal((await summarizeBreakers({ ...other, networks })).networks[0]?.open?.reason, 'float_empty');
});

test('a breaker without a send for an hour is deleted, and no other', async () => {
  await reportPayout(one, wave, 'float_empty');
  await reportPayout(one, payoutBreakers(testWave, payout), 'unclear');
  await clock.advance(60 * 60_000 + 1);
  await reportPayout(one, payoutBreakers(liveAps, payout), 'network_unavailable');
  assert.equal(await purgeBreakers(one), 1, 'the count; the pause was due to be probed less than an hour ago');
  await clock.advance(30_000);
  assert.equal(await purgeBreakers(one), 1);
  await everybodyKnows();
  await allowed(one);
  await clock.advance(1_000);
  assert.equal(await allowedOf(4, payoutBreakers(liveAps, payout)), 1, 'still paused, and probed');
});

test('a failed read of the breakers is not cached', async () => {
  let isAway = true;
  const context: BreakerContext = {
    ...one,
    db: { ...one.db, rows: (statement) => (isAway ? Promise.reject(new Error('away')) : db.rows(statement)) },
  };
  await assert.rejects(acquirePayoutPermit(context, wave), /away/);
  isAway = false;
  await allowed(context);
});

describe('a merchant whose sends get no response', () => {
  const [sick, second, third, healthy] = [0xa5f1, 0xa5f2, 0xa5f3, 0xa5f4].map((last) =>
    payoutBreakers(liveWave, { merchantId: `01939f00-0000-7000-8000-00000000${last.toString(16)}`, number }),
  ) as [PayoutBreakers, PayoutBreakers, PayoutBreakers, PayoutBreakers];

  async function fail(of: PayoutBreakers, times: number): Promise<void> {
    for (let send = 0; send < times; send += 1) await reportPayout(one, of, 'unclear');
  }

  it('is held back alone, however many sends fail: payouts of others go on in every process', async () => {
    await fail(sick, 40);
    await everybodyKnows();
    for (const context of [one, other]) {
      await refused(context, sick);
      await allowed(context, healthy);
    }
    assert.equal(logged.filter((line) => /payouts are paused/.test(line)).length, 1);
  });

  it('counts as one of three before the network’s breaker opens, and any response closes it', async () => {
    await fail(sick, 5);
    await fail(second, 5);
    await allowed(one, healthy);
    await fail(third, 1);
    await refused(one, healthy);
    await clock.advance(2_000);
    await allowed(other, healthy);
    await reportPayout(other, healthy, 'answered');
    assert.equal(await allowedOf(10, healthy), 10);
  });

  it('leaves the network’s trial to others, and runs it after two seconds if nobody else does', async () => {
    for (const merchant of [sick, second, third]) await fail(merchant, 5);
    await clock.advance(2_000);
    const { retryAt } = await refused(one, sick);
    assert.deepEqual(retryAt, addMs(clock.now(), 2_000));
    await clock.advance(2_000);
    await allowed(one, sick);
    await refused(other, healthy);
  });

  it('still waits for its own trial when the network’s breaker has closed', async () => {
    for (const merchant of [sick, second, third]) await fail(merchant, 5);
    await clock.advance(2_000);
    await allowed(one, healthy);
    await reportPayout(one, healthy, 'answered');
    assert.equal(await allowedOf(6, sick), 1);
  });
});

describe('a send that arrived although its response was lost', () => {
  it('closes, for every process, the breaker that such sends have opened, and resets the count', async () => {
    const longBefore = clock.now();
    await clock.advance(leaseMs);
    const sentAt = clock.now();
    await clock.advance(1_000);
    for (let send = 0; send < 5; send += 1) await reportPayout(one, wave, 'unclear');
    await reportArrival(one, wave, longBefore);
    await refused(one);
    await reportArrival(other, wave, sentAt);
    assert.equal(await allowedOf(12), 12);
    for (let send = 0; send < 4; send += 1) await reportPayout(one, wave, 'unclear');
    await reportArrival(one, wave, clock.now());
    for (let send = 0; send < 4; send += 1) await reportPayout(one, wave, 'unclear');
    await allowed(one);
  });

  it('changes nothing where a documented reason opened it later; costs nothing while all are closed', async () => {
    const sentAt = clock.now();
    await clock.advance(1_000);
    for (let send = 0; send < 4; send += 1) await reportPayout(one, wave, 'unclear');
    await reportPayout(one, wave, 'network_unavailable');
    await reportArrival(one, wave, sentAt);
    await refused(one);
    await reportPayout(one, wave, 'answered');
    await allowed(one);
    const before = statements;
    for (let arrival = 0; arrival < 50; arrival += 1) await reportArrival(one, wave, clock.now());
    assert.equal(statements, before);
  });
});

const outcomes: readonly SendOutcome[] = ['answered', 'unclear', 'network_unavailable', 'float_empty'];

test('however sends of two processes interleave, at most one trial is in flight', async () => {
  for (let round = 0; round < 40; round += 1) {
    const outcome = outcomes[round % outcomes.length];
    assert.ok(outcome);
    await reportPayout(round % 3 === 0 ? one : other, wave, outcome);
    await everybodyKnows();
    const isOpenBreaker = (await db.rows(paused)).length > 0;
    const sent = await allowedOf(6);
    if (isOpenBreaker) assert.ok(sent <= 1, `${sent} probes in round ${round}`);
    else assert.equal(sent, 6);
    await clock.advance(round * 500);
  }
});

const paused = { name: 'test_paused', text: 'SELECT 1 FROM circuit_breakers WHERE reason IS NOT NULL', values: [] };
