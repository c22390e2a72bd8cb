import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { StatementEntry, StatementSource } from '../networks/statement.ts';
import type { ChangingNetworkRegistry } from '../networks/registry.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { reconcileYesterday } from './daily-job.ts';
import { createStatementWorld, lineOf } from './statement-world.corpus.ts';
import type { StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let pages: (StatementEntry[] | 'unknown')[] = [];

before(async () => {
  world = await createStatementWorld();
  const statements: StatementSource = {
    read: async ({ cursor }) => {
      const index = Number(cursor ?? '0');
      const lines = pages[index] ?? [];
      if (lines === 'unknown') return { state: 'unknown', detail: 'no response' };
      const nextCursor = index + 1 < pages.length ? String(index + 1) : null;
      return { state: 'page', lines, refusals: [], nextCursor };
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
