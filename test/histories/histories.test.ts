import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../server/src/kit/random.ts';
import { findBalanceAnomaly, type Change, type Observation } from './balance-history.ts';
import { findEventAnomaly, findRecordAnomaly } from './record-history.ts';

// The checkers of test/stories/histories.test.ts on histories of which it is known whether they are right.

const opening = new Map([
  ['payable', 100n],
  ['sub', 0n],
]);

function change([fromMs, byMs]: [number, number], payable: bigint, sub = 0n): Change {
  const adds = new Map([
    ['payable', payable],
    ['sub', sub],
  ]);
  return { name: `+${payable}`, adds, fromMs, byMs };
}

function read([fromMs, byMs]: [number, number], payable: bigint, sub?: bigint): Observation {
  const sees: Observation['sees'] = (balances) =>
    balances.get('payable') === payable && (sub === undefined || balances.get('sub') === sub);
  return { name: `${payable} at ${fromMs}`, sees, fromMs, byMs };
}

function isLinearizable(changes: readonly Change[], observations: readonly Observation[]): boolean {
  return findBalanceAnomaly({ opening, changes, observations }) === undefined;
}

describe('a history of balances', () => {
  const first = change([10, 20], 5n);
  const second = change([10, 20], 7n);

  test('is right when concurrent reads see any prefix of one order of the changes', () => {
    assert.ok(isLinearizable([first, second], [read([0, 9], 100n), read([11, 12], 100n), read([15, 30], 112n)]));
    assert.ok(isLinearizable([first, second], [read([11, 18], 105n), read([11, 18], 112n), read([11, 18], 100n)]));
    assert.ok(isLinearizable([first, change([10, Infinity], 7n)], [read([30, 40], 105n), read([90, 95], 112n)]));
  });

  test('is wrong when a read begins after a change was acknowledged and does not see it', () => {
    assert.ok(!isLinearizable([first], [read([21, 30], 100n)]));
    assert.ok(!isLinearizable([first, second], [read([21, 30], 107n)]));
  });

  test('is wrong when a later read no longer sees what an earlier one has seen', () => {
    assert.ok(!isLinearizable([change([10, Infinity], 5n)], [read([11, 12], 105n), read([13, 14], 100n)]));
  });

  test('is wrong when two reads see concurrent changes in different orders', () => {
    const readers = [read([11, 12], 105n), read([11, 13], 107n)];
    assert.ok(!isLinearizable([first, second], readers));
  });

  test('is wrong when a read sees a value that no committed change explains', () => {
    assert.ok(!isLinearizable([first], [read([11, 12], 103n)]));
    assert.ok(!isLinearizable([first], [read([5, 9], 105n)]));
  });

  test('is wrong when one of two changes is lost', () => {
    assert.ok(!isLinearizable([first, second], [read([50, 60], 105n)]));
  });

  test('is wrong when a read sees a part of a transaction', () => {
    const split = change([10, 20], -30n, 30n);
    assert.ok(isLinearizable([split], [read([11, 12], 70n, 30n), read([11, 12], 100n, 0n)]));
    assert.ok(!isLinearizable([split], [read([11, 12], 70n, 0n)]));
  });

  test('is wrong when a spend is refused that the balance covered all the time', () => {
    const refused = (costMinor: bigint): Observation => ({
      ...{ name: 'refused', fromMs: 12, byMs: 14 },
      sees: (balances) => (balances.get('payable') ?? 0n) < costMinor,
    });
    assert.ok(isLinearizable([first], [refused(105n)]));
    assert.ok(!isLinearizable([first], [refused(100n)]));
  });

  test('of a thousand changes by eight clients is decided, and one altered read of it is found', () => {
    const random = seededRandom('history');
    const below = (count: number): number => Buffer.from(random.bytes(4)).readUInt32BE() % count;
    const changes: Change[] = [];
    const reads: Observation[] = [];
    let payable = 100n;
    for (let atMs = 1; atMs <= 1_000; atMs += 1) {
      const amount = BigInt(below(100_000) - 40_000);
      changes.push(change([atMs - below(4), below(3) === 0 ? Infinity : atMs + below(6)], amount));
      payable += amount;
      if (below(2) === 0) reads.push(read([atMs - below(4), atMs + below(4)], payable));
    }
    assert.ok(isLinearizable(changes, reads));
    const altered = reads.with(200, read([reads[200]?.fromMs ?? 0, reads[200]?.byMs ?? 0], 1n));
    assert.ok(!isLinearizable(changes, altered));
  });
});

describe('a history of one record', () => {
  const versions = ['pending', 'completed', 'refunded', 'completed'].map((state, index) => ({
    state,
    fromMs: index * 10,
    events: index + 1,
  }));
  const state = (fromMs: number, byMs: number, text: string) => ({ fromMs, byMs, state: text });

  test('is right when reads follow its versions, and concurrent ones see either', () => {
    const reads = [
      state(1, 3, 'pending'),
      state(9, 12, 'pending'),
      state(9, 12, 'completed'),
      state(40, 41, 'completed'),
    ];
    assert.equal(findRecordAnomaly(versions, reads), undefined);
    assert.equal(findRecordAnomaly(versions, [state(21, 22, 'refunded'), state(31, 32, 'completed')]), undefined);
  });

  test('is wrong when a state goes back, did not exist yet, or never existed', () => {
    const back = [state(11, 12, 'completed'), state(13, 14, 'pending')];
    assert.match(findRecordAnomaly(versions, back) ?? '', /pending was read after completed/);
    assert.match(findRecordAnomaly(versions, [state(1, 2, 'completed')]) ?? '', /before it existed/);
    assert.ok(findRecordAnomaly(versions, [state(50, 51, 'failed')]));
    assert.ok(findRecordAnomaly(versions, [state(21, 22, 'refunded'), state(23, 24, 'completed')]));
  });

  test('is wrong when its events lack the change that its state has shown, or have a gap', () => {
    const seen = state(11, 12, 'completed');
    assert.equal(findRecordAnomaly(versions, [seen, { fromMs: 13, byMs: 14, events: 2 }]), undefined);
    assert.ok(findRecordAnomaly(versions, [seen, { fromMs: 13, byMs: 14, events: 1 }]));
    const withoutEvent = versions.map((version, index) => (index === 1 ? { ...version, events: 1 } : version));
    assert.equal(findRecordAnomaly(withoutEvent, [seen, { fromMs: 13, byMs: 14, events: 1 }]), undefined);
    const all = ['a', 'b', 'c'].map((id, index) => ({ id, sequence: index + 1 }));
    assert.equal(findEventAnomaly(all, all.slice(0, 2).toReversed()), undefined);
    assert.match(
      findEventAnomaly(
        all,
        [all[0], all[2]].filter((one) => one !== undefined),
      ) ?? '',
      /event 2 is missing/,
    );
    assert.match(findEventAnomaly(all, [{ id: 'x', sequence: 1 }]) ?? '', /another one/);
  });
});
