import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { systemClock } from './clock.ts';
import { openDatabase, type Database, type Statement, type Transaction } from './db.ts';
import { statementByLast } from './many-rows.ts';
import { SharedCommits } from './shared-commits.ts';
import type { Claim } from './shared-transaction.ts';

let database: TestDatabase;
let db: Database;
let commits: SharedCommits;

before(async () => {
  database = await createTestDatabase();
  await database.asOwner(
    'CREATE TABLE kit_rows (id bigint PRIMARY KEY, amount bigint NOT NULL, written_in xid8 NOT NULL)',
  );
  await database.asOwner('CREATE TABLE kit_claims (name text PRIMARY KEY, response text)');
  await database.asOwner('GRANT SELECT, INSERT, UPDATE, DELETE ON kit_rows, kit_claims TO PUBLIC');
  db = openDatabase({ url: database.appUrl, connectionsMax: 4, clock: systemClock, onConnectionError: () => {} });
});

beforeEach(async () => {
  await database.asOwner('DELETE FROM kit_rows');
  await database.asOwner('DELETE FROM kit_claims');
  commits = new SharedCommits(db, { aloneMax: 2 });
});

after(async () => {
  await db.close();
  await database.drop();
});

const insert = (id: number, amount = id): Statement => ({
  name: 'kit_rows_insert',
  text: 'INSERT INTO kit_rows (id, amount, written_in) VALUES ($1, $2, pg_current_xact_id())',
  values: [id, amount],
});
/** The same without a function, which a row of several cannot have. */
const insertRow = (id: number, amount = id): Statement => ({
  name: 'kit_rows_insert_row',
  text: `INSERT INTO kit_rows (id, amount, written_in) VALUES ($1, $2, '0')`,
  values: [id, amount],
  rowKey: String(id),
});
const add = (id: number, amount: number): Statement => ({
  name: 'kit_rows_add',
  text: 'UPDATE kit_rows SET amount = amount + $2 WHERE id = $1',
  values: [id, amount],
});
const read = (id: number): Statement => ({
  name: 'kit_rows_read',
  text: 'SELECT amount FROM kit_rows WHERE id = $1',
  values: [id],
});
const claimOf = (name: string): Claim => ({
  rowKey: name,
  insert: {
    name: 'kit_claims_insert_once',
    text: 'INSERT INTO kit_claims (name) VALUES ($1) ON CONFLICT (name) DO NOTHING',
    values: [name],
  },
  find: statementByLast({
    name: 'kit_claims_find',
    text: (names) => `SELECT name FROM kit_claims WHERE name IN (${names})`,
    values: [name],
    column: 'name',
  }),
});
const insertClaim = (name: string): Statement => ({
  name: 'kit_claims_insert',
  text: 'INSERT INTO kit_claims (name) VALUES ($1)',
  values: [name],
  rowKey: name,
});

async function stored(): Promise<[number, number][]> {
  const { rows } = await database.asOwner<{ id: string; amount: string }>(
    'SELECT id, amount FROM kit_rows ORDER BY id',
  );
  return rows.map(({ id, amount }) => [Number(id), Number(amount)]);
}

/** Keeps the key's transaction open until it is called, so that what comes meanwhile shares the next. */
async function occupy(key: string): Promise<() => Promise<void>> {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const done = commits.run(key, async () => {
    start();
    await held;
  });
  await started;
  return async () => {
    release();
    await done;
  };
}

describe('changes of one key that arrive while one is under way', () => {
  test('are committed by one transaction, each with its own result and its own actions afterwards', async () => {
    const free = await occupy('shop');
    const acted: number[] = [];
    const results = [1, 2, 3].map((id) =>
      commits.run(
        'shop',
        async (tx) => {
          tx.send(insert(id));
          tx.afterCommit(() => acted.push(id));
          return `${tx.requestId} wrote ${id}`;
        },
        { requestId: `req_${id}` },
      ),
    );
    assert.equal(commits.waiting, 3);
    await free();
    assert.deepEqual(await Promise.all(results), ['req_1 wrote 1', 'req_2 wrote 2', 'req_3 wrote 3']);
    assert.deepEqual(acted, [1, 2, 3]);
    const { rows } = await database.asOwner('SELECT DISTINCT written_in FROM kit_rows');
    assert.equal(rows.length, 1);
    assert.deepEqual([commits.waiting, commits.splits], [0, 0]);
  });

  test('do not wait for those of another key', async () => {
    const free = await occupy('shop');
    await commits.run('other shop', async (tx) => tx.send(insertRow(1)));
    assert.deepEqual(await stored(), [[1, 1]]);
    await free();
  });

  test('see what those before them wrote, in their order', async () => {
    const free = await occupy('shop');
    const first = commits.run('shop', async (tx) => tx.send(insertRow(1, 100)));
    const others = [1, 2, 3].map((amount) =>
      commits.run('shop', async (tx) => {
        tx.send(add(1, amount));
        return (await tx.row<{ amount: bigint }>(read(1)))?.amount;
      }),
    );
    await free();
    await first;
    assert.deepEqual(await Promise.all(others), [101n, 103n, 106n]);
  });

  test('send what they add to one row as one statement, before one of them reads', async () => {
    await db.withTransaction(async (tx) => tx.send(insertRow(1, 0)));
    await database.asOwner('CREATE TABLE kit_updates (id bigint)');
    await database.asOwner('GRANT INSERT ON kit_updates TO PUBLIC');
    await database.asOwner(
      `CREATE RULE kit_rows_watch AS ON UPDATE TO kit_rows DO ALSO INSERT INTO kit_updates VALUES (1)`,
    );
    const free = await occupy('shop');
    const results = [5n, 7n, 11n, 13n].map((amount) =>
      commits.run('shop', async (tx) => {
        tx.send({ ...add(1, 0), values: [1, amount], adds: 1 });
        return amount === 13n ? (await tx.row<{ amount: bigint }>(read(1)))?.amount : null;
      }),
    );
    await free();
    assert.deepEqual(await Promise.all(results), [null, null, null, 36n]);
    assert.deepEqual(await stored(), [[1, 36]]);
    const { rows } = await database.asOwner('SELECT count(*)::integer AS updates FROM kit_updates');
    await database.asOwner('DROP RULE kit_rows_watch ON kit_rows');
    assert.deepEqual(rows, [{ updates: 2 }]);
  });

  test('know what those before them have read, but nothing of one that is refused', async () => {
    const free = await occupy('shop');
    const known: unknown[] = [];
    const results = [1, 2, 3].map((id) =>
      commits.run('shop', async (tx) => {
        known.push(Object.fromEntries(tx.memory ?? []));
        tx.memory?.set(`read ${id}`, BigInt(id));
        tx.send(insertRow(id));
        if (id === 2) throw new Error('not this one');
      }),
    );
    const outcomes = Promise.allSettled(results);
    await free();
    await outcomes;
    assert.deepEqual(known, [{}, { 'read 1': 1n }, { 'read 1': 1n }]);
    assert.deepEqual(await stored(), [
      [1, 1],
      [3, 3],
    ]);
  });

  test('do one again, alone, that was refused for what others have left and not committed yet', async () => {
    const free = await occupy('shop');
    const known: unknown[] = [];
    const spend = (id: number): Promise<unknown> =>
      commits.run('shop', async (tx) => {
        const left = tx.memory?.get('left') ?? 5n;
        known.push([id, left]);
        if (left < 5n) throw new Error('not enough');
        tx.memory?.set('left', 0n);
        await tx.row(read(id));
      });
    const outcomes = Promise.allSettled([spend(1), spend(2), spend(3)]);
    await free();
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(known.slice(0, 3), [
      [1, 5n],
      [2, 0n],
      [3, 0n],
    ]);
    assert.deepEqual(known.slice(3).toSorted(), [
      [2, 5n],
      [3, 5n],
    ]);
    assert.equal(commits.splits, 0);
  });

  test('leave out one that is refused before it wrote anything', async () => {
    const free = await occupy('shop');
    const [good, refused, also] = [1, 2, 3].map((id) =>
      commits.run('shop', async (tx) => {
        await tx.row(read(id));
        tx.send(insertRow(id));
        if (id === 2) throw new Error('not this one');
        return id;
      }),
    );
    await Promise.all([free(), assert.rejects(refused ?? Promise.resolve(), /not this one/)]);
    assert.deepEqual(await Promise.all([good, also]), [1, 3]);
    assert.deepEqual(await stored(), [
      [1, 1],
      [3, 3],
    ]);
    assert.equal(commits.splits, 0);
  });

  test('are done again without the one whose statement failed, or that was refused after writing', async () => {
    await database.asOwner(`INSERT INTO kit_rows VALUES (5, 0, '0')`);
    const free = await occupy('shop');
    const results = [1, 2, 3, 4, 5, 6, 7].map((id) =>
      commits.run('shop', async (tx) => {
        tx.send(insertRow(id));
        if (id === 2) await tx.run(add(5, 1));
        if (id === 2) throw new Error('refused late');
        return id;
      }),
    );
    const outcomes = Promise.allSettled(results);
    await free();
    assert.deepEqual(
      (await outcomes).map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason.message),
      ),
      [1, 'refused late', 3, 4, 'duplicate key value violates unique constraint "kit_rows_pkey"', 6, 7],
    );
    assert.deepEqual(
      (await stored()).map(([id]) => id),
      [1, 3, 4, 5, 6, 7],
    );
    assert.deepEqual(
      (await stored()).find(([id]) => id === 5),
      [5, 0],
    );
    assert.ok(commits.splits > 0);
  });

  test('do not wait for a row that another process has locked; only who needs it does', async () => {
    await database.asOwner(`INSERT INTO kit_rows VALUES (1, 0, '0')`);
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const other = db.withTransaction(async (tx) => {
      await tx.run({ name: 'kit_rows_lock', text: 'SELECT 1 FROM kit_rows WHERE id = 1 FOR UPDATE', values: [] });
      lock();
      await unlocked;
    });
    await locked;
    const free = await occupy('shop');
    const others = [2, 3, 4].map((id) => commits.run('shop', async (tx) => tx.send(insertRow(id))));
    const blocked = commits.run('shop', async (tx) => tx.send(add(1, 7)));
    await free();
    await Promise.all(others);
    unlock();
    await other;
    await blocked;
    assert.deepEqual((await stored())[0], [1, 7]);
  });

  test('all fail when the connection is lost, because the commit may have happened', async () => {
    const free = await occupy('shop');
    let runs = 0;
    const results = [1, 2].map((id) =>
      commits.run('shop', async (tx) => {
        runs += 1;
        tx.send(insertRow(id));
        if (id === 2)
          await tx.run({ name: 'kit_end', text: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] });
      }),
    );
    const outcomes = Promise.allSettled(results);
    await free();
    for (const outcome of await outcomes)
      assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'unavailable');
    assert.deepEqual([runs, await stored()], [2, []]);
  });
});

describe('a claim', () => {
  const once = (name: string, refuse = false) =>
    commits.run(
      'shop',
      async (tx, claim) => {
        const claimed = await claim();
        if (claimed === 'used') return 'used';
        if (refuse) throw new Error('refused');
        if (claimed === 'free') tx.send(insertClaim(name));
        return 'new';
      },
      { claim: claimOf(name) },
    );

  test('is won by one change, alone or among others, and is free again when that one is refused', async () => {
    assert.deepEqual([await once('a'), await once('a')], ['new', 'used']);
    const free = await occupy('shop');
    const results = Promise.allSettled([once('a'), once('b'), once('c', true), once('b'), once('c'), once('c')]);
    await free();
    assert.deepEqual(
      (await results).map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason.message),
      ),
      ['used', 'new', 'refused', 'used', 'new', 'used'],
    );
    assert.equal(commits.splits, 0);
  });
});

test('histories end in the same rows and results whether commits are shared or not', async () => {
  const step = fc.record({
    kind: fc.constantFrom('insert', 'insertRow', 'add', 'addAndRead', 'refuse', 'writeAndRefuse'),
    id: fc.integer({ min: 1, max: 6 }),
    amount: fc.integer({ min: 1, max: 9 }),
  });
  type Step = { kind: string; id: number; amount: number };
  const body =
    ({ kind, id, amount }: Step) =>
    async (tx: Transaction): Promise<string> => {
      if (kind === 'insert') tx.send(insert(id, amount));
      if (kind === 'insertRow') tx.send(insertRow(id, amount));
      if (kind.startsWith('add')) tx.send(add(id, amount));
      if (kind === 'writeAndRefuse') await tx.run(add(id, amount));
      if (kind.endsWith('efuse')) throw new Error('refused');
      return kind === 'addAndRead' ? String((await tx.row<{ amount: bigint }>(read(id)))?.amount) : 'ok';
    };
  const outcomes = async (results: Promise<string>[]): Promise<string[]> =>
    (await Promise.allSettled(results)).map((each) =>
      each.status === 'fulfilled' ? each.value : String(each.reason.message),
    );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 40 }), async (steps) => {
      await database.asOwner('DELETE FROM kit_rows');
      const alone: string[] = [];
      for (const each of steps) alone.push(...(await outcomes([commits.runAlone(body(each))])));
      const rowsAlone = await stored();
      await database.asOwner('DELETE FROM kit_rows');
      const together = await outcomes(steps.map((each) => commits.run('shop', body(each))));
      assert.deepEqual([together, await stored()], [alone, rowsAlone]);
    }),
    { numRuns: 40 },
  );
});
