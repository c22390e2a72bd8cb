import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { StatementEntry, StatementSource } from '../networks/statement.ts';
import type { ChangingNetworkRegistry } from '../networks/registry.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { findStatementAccount } from './account.ts';
import { reconcileYesterday } from './daily-job.ts';
import { findDay } from './queries/days.ts';
import { runDay } from './run-day.ts';
import { createStatementWorld, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let pages: (StatementEntry[] | 'unknown')[] = [];
/** Whether the last page leads back to the first. */
let isEndless = false;
/** How long each page takes. */
let readMs = 0;

before(async () => {
  world = await createStatementWorld();
  const statements: StatementSource = {
    read: async ({ day, cursor }) => {
      if (readMs > 0) await world.clock.advance(readMs);
      const index = Number(cursor ?? '0');
      const lines = pages[index % pages.length] ?? [];
      if (lines === 'unknown') return { state: 'unknown', detail: 'no response' };
      const next = isEndless ? (index + 1) % pages.length : index + 1;
      const ofDay = lines.filter(({ at }) => utcDay(at) === day);
      return { state: 'page', lines: ofDay, refusals: [], nextCursor: next < pages.length ? String(next) : null };
    },
  };
  Object.assign(world.networks.wave, { statements });
  // What a connector has is read when it is registered.
  const again = Object.values(world.networks).map((connector) => ({ connector, rank: 0, isDisabled: false }));
  (world.context.networks as ChangingNetworkRegistry).replace(again);
});

after(() => world.close());

test('yesterday is read by API and reconciled once, after a page that failed was read again', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'A-1' }));
  const day = utcDay(world.clock.now());
  const at = world.clock.now();
  await world.clock.advance(dayMs);
  pages = [[lineOf({ transactionId: 'A-1', at })], 'unknown'];
  assert.equal(await reconcileYesterday(world.context), 0);
  assert.match(world.logged.join('\n'), /a statement was not reconciled/);
  pages = [
    [lineOf({ transactionId: 'A-1', at })],
    [lineOf({ transactionId: 'A-2', at: addMs(at, 1), currency: 'XOF' })],
  ];
  assert.equal(await reconcileYesterday(world.context), 1);
  assert.equal(await reconcileYesterday(world.context), 0);
  assert.deepEqual(await world.differencesOf(day), []);
  assert.equal((await world.run(day)).matched, 1n);
});

test('an account without a statement by API waits for an import, and creates no books meanwhile', async () => {
  await world.clock.advance(dayMs);
  pages = [];
  await reconcileYesterday(world.context);
  const row = await world.db.row<{ count: bigint }>({
    name: 'test_count_merchants',
    text: `SELECT count(*) FROM merchants WHERE short_id LIKE 'optr%'`,
    values: [],
  });
  assert.equal(row?.count, 0n);
});

test('a statement whose pages lead back to an earlier one is not read without end', async () => {
  const at = world.clock.now();
  await world.clock.advance(dayMs);
  pages = [[lineOf({ transactionId: 'E-1', at })], [lineOf({ transactionId: 'E-2', at })]];
  isEndless = true;
  assert.equal(await reconcileYesterday(world.context), 0);
  assert.match(world.logged.join('\n'), /The statement of .* was not read: a page came twice/);
  const stored = await world.db.row<{ count: bigint }>({
    name: 'test_count_lines',
    text: `SELECT count(*) FROM statement_lines WHERE transaction_id LIKE 'E-%'`,
    values: [],
  });
  assert.ok((stored?.count ?? 0n) <= 2n);
  isEndless = false;
  assert.equal(await reconcileYesterday(world.context), 1);
});

test('days whose statement could not be read are read before they are reconciled', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'M-1' }));
  const at = world.clock.now();
  const line = lineOf({ transactionId: 'M-1', at });
  pages = ['unknown'];
  for (let day = 0; day < 3; day += 1) {
    await world.clock.advance(dayMs);
    assert.equal(await reconcileYesterday(world.context), 0);
  }
  pages = [[line]];
  assert.equal(await reconcileYesterday(world.context), 1);
  assert.deepEqual(await world.differencesOf(utcDay(at)), []);
});

test('a run that somebody begins reads days by API too, but those that an import since their end has', async () => {
  const account = await findStatementAccount(world.context, 'wave');
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'R-1' }));
  const at = world.clock.now();
  const [day, next] = [utcDay(at), utcDay(addMs(at, dayMs))];
  // It is not over: neither a failure of the API nor this result keeps it from being read.
  pages = ['unknown'];
  await runDay(world.context, account, day);
  await world.clock.advance(2 * dayMs);
  await assert.rejects(runDay(world.context, account, next), new RegExp(`statement of ${day} was not read`));
  pages = [[lineOf({ transactionId: 'R-1', at })]];
  await runDay(world.context, account, next);
  const open = async () => (await world.differencesOf(day)).filter(({ state }) => state !== 'resolved');
  assert.deepEqual(await open(), []);
  assert.equal((await findDay(world.db, account.railAccount, day))?.matched, 1n);

  const last = utcDay(world.clock.now());
  await world.clock.advance(dayMs);
  await world.state([lineOf({ transactionId: 'R-2', at: addMs(world.clock.now(), -dayMs) })]);
  pages = ['unknown'];
  assert.equal((await runDay(world.context, account, last)).lines, 1n);
});

test('a day that was read before its last lines can stand in its statement is read and run again', async () => {
  const minuteMs = 60_000;
  const account = await findStatementAccount(world.context, 'wave');
  const untilMidnight = () => dayMs - (world.clock.now().getTime() % dayMs);
  for (const [begunAtMinute, minutes] of [
    [10, 0],
    [29, 2],
  ] as const) {
    await world.clock.advance(untilMidnight() - minuteMs);
    const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
    const transactionId = `L-${begunAtMinute}`;
    await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
    const at = world.clock.now();
    const day = utcDay(at);
    await world.clock.advance(untilMidnight() + begunAtMinute * minuteMs);
    pages = [[]];
    readMs = minutes * minuteMs;
    await runDay(world.context, account, day);
    readMs = 0;
    pages = [[lineOf({ transactionId, at })]];
    await world.clock.advance(20 * minuteMs);
    assert.equal(await reconcileYesterday(world.context), 1);
    assert.equal((await findDay(world.db, account.railAccount, day))?.matched, 1n);
    assert.equal(await reconcileYesterday(world.context), 0);
  }
});

test('hostile lines of a statement by API are refused or shown harmlessly, and stop no other line', async () => {
  const at = world.clock.now();
  const day = utcDay(at);
  await world.clock.advance(dayMs);
  const name = `Awa\u0000\u001b[31m\u202e${'x'.repeat(20_000)}\ud800`;
  const id = (transactionId: string, changes: Partial<StatementEntry> = {}) =>
    lineOf({ transactionId, at, ...changes });
  pages = [
    [
      id('H-1', { counterpartyName: name, counterpartyNumber: name, reference: name }),
      id('H\u0000'),
      id('x'.repeat(20_000)),
      id('H-2', { originalTransactionId: '\u001b[2J' }),
      id('H-3', { grossMinor: -1n }),
      id('H-4', { currency: 'XOF' }),
      id('=1+1'),
    ],
  ];
  assert.equal(await reconcileYesterday(world.context), 1);
  const rows = await world.db.rows<{ transactionId: string; name: string }>({
    name: 'test_lines',
    text: `SELECT transaction_id AS "transactionId", counterparty_name AS name FROM statement_lines
           WHERE rail_account = 'rail-wave' AND day = $1`,
    values: [day],
  });
  assert.deepEqual(
    rows.map(({ transactionId }) => transactionId),
    ['H-1'],
  );
  assert.match(rows[0]?.name ?? '', /^Awa\[31mx{190,200}$/);
});
