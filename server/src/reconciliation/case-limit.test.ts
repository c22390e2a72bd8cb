import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { firstMoment } from '../kit/time-or-day.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { judgeLines } from './judge-lines.ts';
import { judgeSubjects } from './judge-subjects.ts';
import { linkLinesOfDay } from './link-lines.ts';
import { loadCompared } from './load-compared.ts';
import { listUnlinkedLines } from './queries/lines.ts';
import type { Run } from './run.ts';
import { createStatementWorld, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;

before(async () => {
  world = await createStatementWorld();
});

after(() => world.close());

function runWith(casesLeft: number, account = world.account): Run {
  const day = utcDay(world.clock.now());
  const start = firstMoment(day);
  const end = addMs(start, dayMs);
  const totals = { matched: 0n, inTransit: 0n, differences: {}, listedMinor: 0n, listedAtStartMinor: 0n };
  return { day, start, end, account, casesLeft, coveredUntil: end, totals };
}

test('payments that a run books late leave its cases to what needs a person', async () => {
  const subjects = [];
  for (let made = 0; made < 2; made += 1) {
    const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
    await world.state([lineOf({ transactionId: `L-${made}`, at: world.clock.now(), reference: charge.reference })]);
    subjects.push({ merchantId: charge.merchantId, type: 'charge' as const, id: charge.id });
  }
  const { charge: missing } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, missing, succeeded(missing, { transactionId: 'M-1' }));
  subjects.push({ merchantId: missing.merchantId, type: 'charge' as const, id: missing.id });
  const run = runWith(1);
  await linkLinesOfDay(world.context, world.account, run.day);
  await judgeSubjects(world.context, run, await loadCompared(world.context, 'rail-wave', subjects, run));
  const [found] = (await world.differencesOf(run.day)).filter(({ subjectId }) => subjectId === missing.id);
  assert.equal(found?.class, 'missing_there');
  assert.notEqual(found?.caseId, null);
});

test('lines of a business’s own account are stored without a limit, because later days list them', async () => {
  const { merchant } = world;
  const account = { ...world.account, ownerId: merchant.id, books: () => Promise.resolve(merchant) };
  const run = runWith(0, account);
  await world.state([lineOf({ transactionId: 'O-1', at: world.clock.now() })]);
  await judgeLines(world.context, run, await listUnlinkedLines(world.db, 'rail-wave', run.day, null, 10));
  assert.deepEqual(
    (await world.differencesOf(run.day)).filter((each) => each.class === 'unknown').map(({ state }) => state),
    ['open'],
  );
  assert.equal(run.casesLeft, 0);
});
