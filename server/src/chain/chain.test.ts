import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { createLedgerWorld, type LedgerWorld } from '../ledger/ledger-world.corpus.ts';
import { installationId } from '../audit/audit-entry.ts';
import { recordOperatorAct } from '../audit/operator-act.ts';
import { contextOfCommand } from '../../../test/harness/operate.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { CommandInput } from '../kit/command-line.ts';
import type { Queryable, Statement } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { chainCommands } from '../operator/chain-commands.ts';
import type { CommandContext, CommandResult } from '../operator/command.ts';
import { chainLateRows, chainRows, oldestUnchainedSeconds } from './append-blocks.ts';
import { areHeadsUnchanged, books, parseHeads } from './heads.ts';
import { DailyHeads, listHeadsFiles, recordHeads } from './record-heads.ts';
import { verifyChains, type ChainFinding } from './verify-chain.ts';

type Run = (context: CommandContext, input: CommandInput) => Promise<CommandResult>;

let world: LedgerWorld;
let merchantId: string;
let directory: string;
let context: { db: LedgerWorld['db']; clock: LedgerWorld['clock']; log: Log };
const logged: unknown[] = [];
const key = 'a key';

before(async () => {
  world = await createLedgerWorld();
  directory = mkdtempSync(join(tmpdir(), 'dalasi-heads-'));
  const note = (...parts: unknown[]) =>
    void logged.push(JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)));
  context = { db: world.db, clock: world.clock, log: { debug: note, info: note, warn: note, error: note } };
});
after(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

const tables = [
  'ledger_movements',
  'ledger_deltas',
  'ledger_accounts',
  'movement_blocks',
  'audit_blocks',
  'audit_entries',
];

beforeEach(async () => {
  await world.asOwner(`TRUNCATE ${tables.join(', ')}`);
  merchantId = await world.newMerchant();
  await world.asOwner('TRUNCATE ledger_movements, ledger_deltas');
  logged.length = 0;
});

/** Movements in blocks of some each. */
async function chain(...sizes: number[]): Promise<void> {
  for (const size of sizes) {
    for (let index = 0; index < size; index += 1) await book(BigInt(index + 1));
    await world.clock.advance(60_000);
    await chainRows(context);
  }
  assert.deepEqual(logged, []);
}

const book = (amountMinor: bigint): Promise<void> =>
  world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor });

const movementIds = async (): Promise<string[]> => {
  const rows = await world.db.rows<{ id: string }>({
    ...{ name: 'test_movement_ids', values: [merchantId] },
    text: 'SELECT id FROM ledger_movements WHERE merchant_id = $1 ORDER BY id',
  });
  return rows.map(({ id }) => id);
};

const findings = async (...recorded: Parameters<typeof verifyChains>[1] & object): Promise<ChainFinding[]> =>
  (await verifyChains(context, recorded)).findings;

const at = (block: number, sequence: number, what: ChainFinding['what'], rowId: string | null): ChainFinding => ({
  ...{ book: 'ledger', ownerId: merchantId, block: BigInt(block), sequence: BigInt(sequence), rowId, what },
});

test('rows are chained once, by merchant, and a chain that nobody touched is right', async () => {
  await chain(3, 2);
  await Promise.all([chainRows(context), chainRows(context), chainLateRows(context)]);
  const { findings: found, ...counts } = await verifyChains(context);
  assert.deepEqual(found, []);
  assert.deepEqual(counts, { rows: 5n, chains: 1, lateRows: 0n, unchainedRows: 0n });
});

test('two processes that chain the same rows append each of them once', async () => {
  for (let round = 0; round < 10; round += 1) {
    await book(5n);
    await world.clock.advance(20_000);
    await Promise.all([chainRows(context), chainRows(context), chainRows(context)]);
  }
  const { rows, findings: found } = await verifyChains(context);
  assert.deepEqual([rows, found], [10n, []]);
  assert.deepEqual(logged, []);
});

const columns: [column: string, value: string][] = [
  ['amount', 'amount + 1'],
  ['credit_account', "'fees'"],
  ['flow', "'other'"],
  ['created_at', "created_at + interval '1 microsecond'"],
  ['source_id', 'gen_random_uuid()'],
];

for (const [column, value] of columns) {
  test(`a movement whose ${column} was changed is named by its place`, async () => {
    await chain(3, 3);
    const id = (await movementIds())[4] ?? '';
    await world.asOwner(`UPDATE ledger_movements SET ${column} = ${value} WHERE id = $1`, [id]);
    assert.deepEqual(await findings(), [at(2, 5, 'row_changed', id)]);
  });
}

test('a movement that was deleted is named by its place', async () => {
  await chain(3, 3);
  const id = (await movementIds())[1] ?? '';
  await world.asOwner('DELETE FROM ledger_movements WHERE id = $1', [id]);
  assert.deepEqual(await findings(), [at(1, 2, 'row_deleted', id)]);
});

test('two movements that changed places are found at the first', async () => {
  await chain(4);
  const [, second = '', third = ''] = await movementIds();
  const swap = (from: string, to: string) =>
    world.asOwner('UPDATE ledger_movements SET id = $2 WHERE id = $1', [from, to]);
  await swap(second, installationId);
  await swap(third, second);
  await swap(installationId, third);
  assert.deepEqual(await findings(), [at(1, 2, 'row_changed', second)]);
});

test('rows that are exchanged in a block together with their checks are found', async () => {
  await chain(2);
  await world.asOwner(`UPDATE movement_blocks SET row_ids = ARRAY[row_ids[2], row_ids[1]],
    row_checks = substr(row_checks, 9, 8) || substr(row_checks, 1, 8)`);
  assert.deepEqual(await findings(), [at(1, 1, 'block_changed', null)]);
});

test('a block that was deleted or whose time was changed is found', async () => {
  await chain(2, 2, 2);
  await world.asOwner(`UPDATE movement_blocks SET chained_at = chained_at + interval '1 second' WHERE number = 3`);
  assert.deepEqual(await findings(), [at(3, 5, 'block_changed', null)]);
  await world.asOwner('DELETE FROM movement_blocks WHERE number = 2');
  assert.deepEqual(await findings(), [at(2, 3, 'block_missing', null)]);
});

test('an audit entry of a business or of the installation that was changed is named', async () => {
  const businessId = world.newId();
  const actor = { actorId: null, actorName: 'Fatou', sessionId: null, requestId: null, address: null };
  const act = { action: 'fees.set', object: { type: 'defaults', id: null }, sent: { percent: 1 } };
  await world.asOwner(`INSERT INTO businesses (id, name, created_at) VALUES ($1, 'Shop', now())`, [businessId]);
  await world.db.withTransaction(async (tx) => recordOperatorAct(tx, world, actor, act));
  await world.db.withTransaction(async (tx) => recordOperatorAct(tx, world, actor, { ...act, businessId }));
  await world.clock.advance(60_000);
  await chainRows(context);
  assert.deepEqual(await findings(), []);
  await world.asOwner(`UPDATE audit_entries SET changes = '[]'`);
  const broken = (await findings()).map(({ book: name, ownerId, what }) => [name, ownerId, what]);
  assert.deepEqual(broken, [
    ['audit', installationId, 'row_changed'],
    ['audit', businessId, 'row_changed'],
  ]);
});

test('a movement that commits behind the chain is chained by the next look for late ones, and counted', async () => {
  const lateId = world.newId();
  await world.clock.advance(2 * 3_600_000);
  await chain(2);
  await world.asOwner(
    `INSERT INTO ledger_movements SELECT merchant_id, $1, debit_account, credit_account, amount, currency, flow,
       source_type, source_id, created_at FROM ledger_movements LIMIT 1`,
    [lateId],
  );
  assert.equal((await verifyChains(context)).unchainedRows, 1n);
  assert.equal(await chainRows(context), 0);
  assert.equal(await chainLateRows(context), 1);
  assert.equal(await chainLateRows(context), 0);
  const { findings: found, ...counts } = await verifyChains(context);
  assert.deepEqual([found, counts], [[], { rows: 3n, chains: 1, lateRows: 1n, unchainedRows: 0n }]);
});

test('the age of the oldest row without a block is known, and 0 once all have one', async () => {
  const [ledger] = books;
  assert.ok(ledger);
  await book(1n);
  await world.clock.advance(30_000);
  assert.equal(await oldestUnchainedSeconds(world.db, world.clock, ledger), 30);
  await chainRows(context);
  assert.equal(await oldestUnchainedSeconds(world.db, world.clock, ledger), 0);
});

test('a chain that was written again, cut off or deleted differs from the recorded heads', async () => {
  await chain(2, 2);
  await world.clock.advance(120_000);
  const { heads } = await recordHeads({ ...context, directory, key });
  assert.deepEqual(await findings(...heads), []);
  await world.asOwner('DELETE FROM movement_blocks WHERE number = 2');
  assert.deepEqual(await findings(...heads), [at(2, 3, 'block_missing', null)]);
  await world.asOwner('UPDATE ledger_movements SET amount = 7');
  await world.asOwner('TRUNCATE movement_blocks');
  await chainRows(context);
  await chain(1);
  assert.deepEqual(await findings(), []);
  assert.deepEqual(await findings(...heads), [at(2, 5, 'head_differs', null)]);
});

test('recorded heads are signed, and a file that was changed is refused', async () => {
  await chain(1);
  await world.clock.advance(120_000);
  const { file, digest } = await recordHeads({ ...context, directory, key });
  assert.equal(listHeadsFiles(directory)[0], file);
  const text = readFileSync(String(file), 'utf8');
  assert.equal(parseHeads(text, key)?.digest, digest);
  assert.equal(parseHeads(text, 'another key'), null);
  assert.equal(parseHeads(text.replace(merchantId, installationId), key), null);
  assert.equal(parseHeads('not ours', key), null);
});

test('the first file of each day is kept for 400 days, and the newest hundred, however many were written', async () => {
  const own = mkdtempSync(join(directory, 'retained-'));
  const day = (daysAgo: number): string =>
    addMs(world.clock.now(), -daysAgo * dayMs)
      .toISOString()
      .slice(0, 10);
  const named = (daysAgo: number, minute: number): string => {
    const time = `${Math.floor(minute / 60)}`.padStart(2, '0') + `${minute % 60}`.padStart(2, '0');
    return join(own, `heads-${day(daysAgo)}T${time}00Z.json`);
  };
  for (const daysAgo of [401, 399, 2, 1])
    for (let minute = 0; minute < 150; minute += 1) writeFileSync(named(daysAgo, minute), '');
  const { file } = await recordHeads({ ...context, directory: own, key });
  const newest = Array.from({ length: 99 }, (_, index) => named(1, 149 - index));
  assert.deepEqual(listHeadsFiles(own), [file, ...newest, named(1, 0), named(2, 0), named(399, 0)]);
});

test('recorded heads hold whatever clocks the workers had, and not where a block was changed', async () => {
  await chain(2);
  await world.clock.advance(120_000);
  const heads = await recordHeads({ ...context, directory: null, key });
  await world.asOwner('UPDATE movement_blocks SET chained_at = $1', [addMs(heads.at, 1)]);
  assert.equal(await areHeadsUnchanged(world.db, heads), true, 'none is of before their time now');
  await world.asOwner(`UPDATE movement_blocks SET hash = sha256(hash)`);
  assert.equal(await areHeadsUnchanged(world.db, heads), false);
});

test('recorded heads are compared by the primary key alone, some hundreds in a statement', async () => {
  await world.asOwner(`INSERT INTO movement_blocks
    SELECT gen_random_uuid(), 7, sha256(int8send(row)), '{}', '', 0, gen_random_uuid(), now() FROM generate_series(1, 1001) AS row`);
  const stored = await world.db.rows<{ ownerId: string; number: bigint; hash: Buffer }>({
    ...{ name: 'test_all_blocks', values: [] },
    text: 'SELECT merchant_id AS "ownerId", number, hash FROM movement_blocks',
  });
  const heads = stored.map((block) => ({ book: 'ledger' as const, ...block }));
  const names: string[] = [];
  const noted = (statement: Statement): Statement => {
    names.push(statement.name);
    return statement;
  };
  const db: Queryable = {
    row: (statement) => world.db.row(noted(statement)),
    rows: (statement) => world.db.rows(noted(statement)),
    run: (statement) => world.db.run(noted(statement)),
  };
  assert.equal(await areHeadsUnchanged(db, { heads }), true);
  assert.deepEqual(
    names,
    Array.from({ length: 3 }, () => 'movement_blocks_unchanged'),
  );
  await world.asOwner('UPDATE movement_blocks SET number = 8 WHERE merchant_id = $1', [heads.at(-1)?.ownerId]);
  assert.equal(await areHeadsUnchanged(db, { heads }), false);
});

test('a worker keeps the heads once a day, in the log too', async () => {
  await chain(1);
  await world.clock.advance(120_000);
  const daily = new DailyHeads({ ...context, directory: null, key });
  assert.deepEqual([await daily.record(), await daily.record()], [1, 0]);
  await world.clock.advance(24 * 3_600_000);
  assert.equal(await daily.record(), 1);
  assert.equal(logged.length, 2);
  assert.match(JSON.stringify(logged[0]), /the heads of the hash chains.*Z [0-9a-f]{64} [0-9a-f]{64}/);
});

test('chain verify exits with 1 and names what was changed, also against the hash of a log line', async () => {
  const own = mkdtempSync(join(directory, 'commands-'));
  const run = async (name: string, options: Record<string, string> = {}) => {
    const command = chainCommands.find((one) => one.name === name)?.run;
    const installation = { chainDirectory: own } as CommandContext['installation'];
    const parts = contextOfCommand({ ...context, chainKey: key, installation });
    const { text, data, exitCode } = await (command as Run)(parts, {
      options,
      positionals: [],
      lists: {},
      flags: new Set(),
    });
    return { text, data: data as Record<string, unknown>, exitCode };
  };
  await chain(2);
  await world.clock.advance(120_000);
  const { data: head } = await run('chain head');
  const recorded = { at: String(head['at']), digest: String(head['digest']) };
  assert.equal((await run('chain verify')).exitCode, 0);
  assert.equal((await run('chain verify', recorded)).exitCode, 0);
  await assert.rejects(run('chain verify', { ...recorded, heads: String(head['file']) }), /either --heads or --digest/);
  await assert.rejects(run('chain verify', { at: recorded.at }), /--digest, which is missing/);
  await assert.rejects(run('chain verify', { heads: join(own, 'mistyped') }), /There is no file/);
  const [first = ''] = await movementIds();
  await world.asOwner('UPDATE ledger_movements SET amount = 9 WHERE id = $1', [first]);
  const { text, exitCode } = await run('chain verify');
  assert.equal(exitCode, 1);
  assert.match(text, new RegExp(`^BROKEN, merchant .*${merchantId}: movement 1 \\(${first}\\), block 1, was changed`));
  await world.asOwner('TRUNCATE movement_blocks');
  await chainRows(context);
  assert.equal((await run('chain verify', recorded)).exitCode, 1);
  assert.match((await run('chain verify', { heads: String(head['file']) })).text, /not the one that was recorded/);
  await world.clock.advance(120_000);
  const { data: next } = await run('chain head');
  assert.equal(
    (await run('chain verify', { heads: String(next['file']) })).exitCode,
    0,
    'the newest heads are of the new chain',
  );
  const again = await run('chain verify');
  assert.deepEqual([again.exitCode, again.data['older_heads_that_differ']], [1, [head['file']]]);
  assert.match(again.text, /^The heads are NOT those of \S+: rows were chained again since\.$/m);
  writeFileSync(String(head['file']), readFileSync(String(head['file']), 'utf8').replace(merchantId, installationId));
  const skipping = await run('chain verify');
  assert.deepEqual([skipping.exitCode, skipping.data['skipped_files']], [0, [head['file']]]);
  assert.match(
    skipping.text,
    /^Skipped files, which were changed or signed with another KEY_PEPPER: 1, the newest \S+\.$/m,
  );
});
