import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { whileLocked } from '../../../test/harness/tables.ts';
import { systemClock } from './clock.ts';
import { openDatabase, type Database, type Statement, type Transaction } from './db.ts';
import { GatheringDatabase } from './gathering-database.ts';
import { statementForMany, typedRow } from './many-rows.ts';
import { SharedCommits } from './shared-commits.ts';

// Changes that each lock a row of their own, as workers' changes of payments and transfers do.

let database: TestDatabase;
let db: Database;
let commits: SharedCommits;
/** The statements that the last case sent, in their order. */
let sent: string[];

before(async () => {
  database = await createTestDatabase();
  await database.asOwner('CREATE TABLE kit_shops (id text PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))');
  await database.asOwner(
    'CREATE TABLE kit_orders (shop text, id text, state text NOT NULL, written_in xid8, PRIMARY KEY (shop, id))',
  );
  await database.asOwner('CREATE TABLE kit_notes (shop text, id text, note text, PRIMARY KEY (shop, id, note))');
  await database.asOwner('GRANT SELECT, INSERT, UPDATE, DELETE ON kit_shops, kit_orders, kit_notes TO PUBLIC');
  db = openDatabase({ url: database.appUrl, connectionsMax: 4, clock: systemClock, onConnectionError: () => {} });
});

beforeEach(async () => {
  await reset();
  commits = new SharedCommits(watched(db), { aloneMax: 2 });
});

after(async () => {
  await db.close();
  await database.drop();
});

async function reset(balance = 100): Promise<void> {
  sent = [];
  await database.asOwner('TRUNCATE kit_shops, kit_orders, kit_notes');
  await database.asOwner(`INSERT INTO kit_shops VALUES ('shop', ${balance})`);
  await database.asOwner(`INSERT INTO kit_orders SELECT 'shop', n::text, 'new' FROM generate_series(1, 9) AS n`);
}

/** Notes what goes to the database. */
function watched(inner: Database): Database {
  const note = <Tx extends Transaction | Database>(queryable: Tx): Tx =>
    new Proxy(queryable, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: [Statement, ...unknown[]]) => {
          if (['rows', 'row', 'run', 'send'].includes(String(name))) sent.push(args[0].name);
          if (name !== 'withTransaction') return Reflect.apply(value, target, args) as unknown;
          const body = args[0] as unknown as (tx: Transaction) => Promise<unknown>;
          return (target as Database).withTransaction((tx) => body(note(tx)));
        };
      },
    });
  return note(inner);
}

const lockOrder = (id: string): Statement => ({
  name: 'kit_orders_lock',
  text: 'SELECT id, state FROM kit_orders WHERE shop = $1 AND id = $2 FOR UPDATE',
  values: ['shop', id],
  many: {
    text: (ids) =>
      `SELECT id, state FROM kit_orders WHERE shop = $1 AND id IN (${ids}) ORDER BY id FOR UPDATE SKIP LOCKED`,
    skipsLocked: true,
    parameters: '$2',
    sharedValues: 1,
    ...{ column: 'id', key: id },
  },
});
const changeOrder = (id: string, from: string, to: string): Statement =>
  statementForMany({
    name: 'kit_orders_change',
    text: (rows) => `UPDATE kit_orders SET state = next.state, written_in = pg_current_xact_id()
           FROM (VALUES ${rows}) AS next (id, expected, state)
           WHERE shop = $1 AND kit_orders.id = next.id AND kit_orders.state = next.expected RETURNING kit_orders.id`,
    parameters: typedRow(2, ['text', 'text', 'text']),
    values: ['shop', id, from, to],
    sharedValues: 1,
    ...{ column: 'id', key: id },
  });
const insertNote = (id: string, note: string): Statement => ({
  name: 'kit_notes_insert',
  text: 'INSERT INTO kit_notes (shop, id, note) VALUES ($1, $2, $3)',
  values: ['shop', id, note],
  rowKey: `${id} ${note}`,
});
/** Of a row that all orders share. */
const readBalance: Statement = {
  name: 'kit_shops_lock',
  text: 'SELECT balance FROM kit_shops WHERE id = $1 FOR UPDATE',
  values: ['shop'],
};
const readNotes: Statement = {
  name: 'kit_notes_list',
  text: 'SELECT note FROM kit_notes WHERE shop = $1',
  values: ['shop'],
};
const spend = (amount: number): Statement => ({
  name: 'kit_shops_spend',
  text: 'UPDATE kit_shops SET balance = balance - $2 WHERE id = $1',
  values: ['shop', amount],
});
const findAbove = (amount: number): Statement => ({
  name: 'kit_shops_find_above',
  text: 'SELECT balance FROM kit_shops WHERE id = $1 AND balance > $2 FOR UPDATE SKIP LOCKED',
  values: ['shop', amount],
  emptyForAll: true,
});

interface Step {
  kind: 'move' | 'spend' | 'claim' | 'refuse' | 'refuseLate' | 'readWritten';
  id: string;
  amount: number;
}

/** One change of an order: reads it, moves it on, and does what its kind says. */
const change =
  ({ kind, id, amount }: Step) =>
  async (tx: Transaction): Promise<string> => {
    const order = await tx.row<{ state: string }>(lockOrder(id));
    assert(order);
    if (kind === 'refuse') throw new Error(`refused ${order.state}`);
    if (kind === 'claim' && (await tx.row(findAbove(90)))) tx.send(spend(5));
    if (kind === 'spend') {
      // Two that spend at once would both see the balance before.
      const { balance } = (await tx.row<{ balance: bigint }>(readBalance)) ?? { balance: 0n };
      if (balance < BigInt(amount)) throw new Error('too little');
      tx.send(spend(amount));
    }
    const to = `${order.state}+`;
    assert.equal(await tx.run(changeOrder(id, order.state, to)), 1);
    tx.send(insertNote(id, to));
    if (kind === 'refuseLate') throw new Error('refused late');
    return kind === 'readWritten' ? String((await tx.row<{ state: string }>(lockOrder(id)))?.state) : to;
  };

function runAll(steps: readonly Step[]): Promise<string>[] {
  return steps.map((step) => commits.run('shop', change(step), { row: step.id }));
}

async function outcomesOf(results: Promise<string>[]): Promise<string[]> {
  return (await Promise.allSettled(results)).map((each) =>
    each.status === 'fulfilled' ? each.value : (each.reason as Error).message,
  );
}

async function stored(): Promise<unknown[]> {
  const tables = [
    'SELECT id, balance::int FROM kit_shops',
    'SELECT id, state FROM kit_orders',
    'SELECT id, note FROM kit_notes',
  ];
  return Promise.all(tables.map(async (text) => (await database.asOwner(`${text} ORDER BY 1, 2`)).rows));
}

const move = (id: number): Step => ({ kind: 'move', id: String(id), amount: 1 });

describe('changes of different rows of one key', () => {
  test('that come in one turn share a transaction, and each kind of statement is sent once', async () => {
    assert.deepEqual(await outcomesOf(runAll([1, 2, 3].map(move))), ['new+', 'new+', 'new+']);
    assert.deepEqual(sent, [
      'shared_commits_settings',
      'kit_orders_lock_x4',
      'kit_orders_change_x4',
      'kit_notes_insert_x2',
      'kit_notes_insert',
    ]);
    const { rows } = await database.asOwner('SELECT DISTINCT written_in FROM kit_orders WHERE written_in IS NOT NULL');
    assert.deepEqual([rows.length, commits.splits], [1, 0]);
  });

  test('leave out one that is refused, and never share with another of the same row', async () => {
    const steps = [move(1), { ...move(2), kind: 'refuse' as const }, move(1), move(3)];
    assert.deepEqual(await outcomesOf(runAll(steps)), ['new+', 'refused new', 'new++', 'new+']);
    assert.equal(commits.splits, 0);
  });

  test('read what all of them change one after the other, so that nobody spends what another has spent', async () => {
    const steps = [1, 2, 3, 4].map((id): Step => ({ kind: 'spend', id: String(id), amount: 30 }));
    assert.deepEqual(await outcomesOf(runAll([...steps, move(5)])), ['new+', 'new+', 'new+', 'too little', 'new+']);
    assert.deepEqual((await stored())[0], [{ id: 'shop', balance: 10 }]);
    assert.equal(commits.splits, 0);
  });

  test('ask once for what none of them finds, and one after the other for what is there', async () => {
    const steps = [1, 2, 3, 4].map((id): Step => ({ kind: 'claim', id: String(id), amount: 0 }));
    await Promise.all(runAll(steps));
    assert.deepEqual((await stored())[0], [{ id: 'shop', balance: 90 }], 'taken while it was above 90');
    assert.equal(sent.filter((name) => name === 'kit_shops_find_above').length, 5);
    sent = [];
    await Promise.all(runAll(steps));
    assert.equal(sent.filter((name) => name === 'kit_shops_find_above').length, 1);
    assert.equal(commits.splits, 0);
  });

  test('do not wait for a row that another process has locked; who needs it waits alone', async () => {
    const lock = { text: `SELECT FROM kit_orders WHERE id = '2' FOR UPDATE` };
    const [others, waiting] = await whileLocked({ database }, lock, async () => {
      const [first, second, third] = runAll([1, 2, 3].map(move));
      return [await Promise.all([first, third]), second] as const;
    });
    assert.deepEqual([others, await waiting], [['new+', 'new+'], 'new+']);
    assert.equal(commits.splits, 0);
  });
});

test('changes that ask two single statements at once still run one after the other', async () => {
  const takeHalf = async (tx: Transaction, id: string): Promise<void> => {
    await tx.row(lockOrder(id));
    const [shop] = await Promise.all([tx.row<{ balance: bigint }>(readBalance), tx.rows(readNotes)]);
    const half = Number(shop?.balance ?? 0n) / 2;
    await tx.run(spend(half));
    tx.send(insertNote(id, String(half)));
  };
  await reset(80);
  const ids = ['1', '2', '3'];
  await Promise.all(ids.map((id) => commits.run('shop', (tx) => takeHalf(tx, id), { row: id })));
  const { rows } = await database.asOwner<{ note: string }>('SELECT note FROM kit_notes ORDER BY note::int DESC');
  assert.deepEqual(
    rows.map(({ note }) => note),
    ['40', '20', '10'],
  );
  assert.equal(commits.splits, 0);
});

test('histories of many rows end the same whether changes run at once or each alone', async () => {
  const step = fc.record({
    kind: fc.constantFrom<Step['kind'][]>('move', 'spend', 'claim', 'refuse', 'refuseLate', 'readWritten'),
    id: fc.integer({ min: 1, max: 9 }).map(String),
    amount: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 30 }), async (steps) => {
      await reset(10_000);
      // What they spend together is there, so that their order, which may differ, decides nothing.
      const alone: string[] = [];
      for (const each of steps) alone.push(...(await outcomesOf([commits.runAlone(change(each))])));
      const before = await stored();
      await reset(10_000);
      assert.deepEqual([await outcomesOf(runAll(steps)), await stored()], [alone, before]);
    }),
    { numRuns: 30 },
  );
});

describe('single statements for many rows', () => {
  let gathering: GatheringDatabase;
  beforeEach(() => {
    gathering = new GatheringDatabase(watched(db));
  });

  test('of one turn are sent as one, those meanwhile as the next, and one that comes alone as it is', async () => {
    const alone = await gathering.run(changeOrder('1', 'new', 'paid'));
    const first = [2, 3, 99].map((id) => gathering.run(changeOrder(String(id), 'new', 'paid')));
    // Asked once those are under way.
    const { promise: underWay, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await underWay;
    const next = ['1', '4', '4'].map((id) => gathering.run(changeOrder(id, 'new', 'paid')));
    assert.deepEqual([alone, await Promise.all(first), await Promise.all(next)], [1, [1, 1, 0], [0, 1, 0]]);
    assert.deepEqual(sent, ['kit_orders_change', 'kit_orders_change_x4', 'kit_orders_change_x2', 'kit_orders_change']);
  });

  test('fail alone: one that the database refuses harms none of the others', async () => {
    await database.asOwner(`ALTER TABLE kit_orders ADD CONSTRAINT kit_states CHECK (state <> 'wrong')`);
    const results = await Promise.allSettled(
      ['paid', 'wrong', 'paid'].map((state, index) => gathering.run(changeOrder(String(index + 1), 'new', state))),
    );
    await database.asOwner('ALTER TABLE kit_orders DROP CONSTRAINT kit_states');
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal(gathering.splits, 1);
  });
});
