import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contextOfCommand } from '../../../test/harness/operate.ts';
import { readInput, UsageError } from '../kit/command-line.ts';
import { utcDay } from '../kit/clock.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { createStatementWorld, type StatementWorld } from '../reconciliation/statement-world.corpus.ts';
import type { CommandResult } from './command.ts';
import { reconcileCommands } from './reconcile-commands.ts';

let world: StatementWorld;
let shown: string[] = [];
const directory = mkdtempSync(join(tmpdir(), 'dalasi-reconcile-'));

before(async () => {
  world = await createStatementWorld();
});

after(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

function run(words: string): Promise<CommandResult> {
  const [subject, verb, ...args] = words.split(' ');
  const command = reconcileCommands.find(({ name }) => name === `${subject} ${verb}`);
  assert.ok(command, words);
  const { db, clock, context: work } = world;
  shown = [];
  const progressTo = { write: (text: string) => shown.push(text) };
  const moneyWork = () => Promise.resolve(work);
  return command.run(contextOfCommand({ db, clock, progressTo, moneyWork }), readInput('operator', command, args));
}

function fileOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

test('a statement is imported, reconciled on its own day, reported and explained by command', async () => {
  const day = utcDay(world.clock.now());
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'T-1' }));
  const at = world.clock.now().toISOString();
  const lines = [
    'transaction_id,timestamp,amount,fee,balance,name',
    `T-1,${at},100.00,0,600.00,Awa`,
    `T-2,${at},25.50,,625.50,"=cmd|' /C calc'!A0"`,
    `T-3,${at},oops,,,`,
  ];
  const path = fileOf('lines.csv', lines.join('\n'));
  const imported = await run(`reconcile import --network wave --file ${path}`);
  assert.match(imported.text, /^2 new lines, 0 known, 1 refused/);
  assert.match(imported.text, /row 4: Its amount cannot be read/);
  assert.match(shown.join(''), /3 of 3 rows/);
  const result = await run(`reconcile run --network rail-wave --day ${day}`);
  assert.equal(result.exitCode, 0, result.text);
  const { unexplained, proved, matched, differences, opening_difference } = result.data as Record<string, unknown>;
  assert.deepEqual([unexplained, proved, matched, opening_difference], [0, true, 1, 500]);
  assert.deepEqual(differences, { unknown: 1 });
  const ofDay = (await run(`reconcile day ${day}`)).data as {
    networks: { items: { id: string; case_id: string }[] }[];
  };
  const [item] = ofDay.networks[0]?.items ?? [];
  assert.ok(item?.case_id);
  const csv = (await run(`reconcile day ${day} --network rail-wave --csv`)).text;
  assert.equal(csv.split('\r\n').length, 4);
  assert.match(csv, new RegExp(`T-1,collection,completed,100.00,0.00,100.00,600.00,,,charge,${charge.id}`));
  assert.match(csv, /T-2,.*,unknown,open/);
  for (const id of [item.id, 'T-2']) assert.match((await run(`reconcile explain ${id}`)).text, /came in on rail-wave/);
  assert.match((await run(`reconcile explain ${charge.id}`)).text, /Record: charge TX-.*, completed/);
  const list = await run('reconcile list');
  assert.match(list.text, /unknown +open/);
});

test('a float that is not proved fails the command with its amount', async () => {
  await world.clock.advance(86_400_000);
  const day = utcDay(world.clock.now());
  const at = world.clock.now().toISOString();
  const path = fileOf('gap.csv', `transaction_id,timestamp,amount,balance\nG-1,${at},10.00,640.00\n`);
  await run(`reconcile import --network wave --file ${path}`);
  const result = await run(`reconcile run --network wave --day ${day}`);
  assert.equal(result.exitCode, 1);
  // The balance grew by 14.50, and the line says 10.00.
  assert.match(result.text, /unexplained +D4.50: NOT PROVED/);
  const closed = await run(`reconcile run --network wave --day ${day} --closing-balance 635.50`);
  assert.equal(closed.exitCode, 0, closed.text);
});

test('a day that no imported line reaches is not reconciled without its closing balance', async () => {
  await world.clock.advance(86_400_000);
  const day = utcDay(world.clock.now());
  const daysOf = async () => ((await run('reconcile list --network wave')).data as { days: unknown[] }).days;
  const days = await daysOf();
  await assert.rejects(run(`reconcile run --network wave --day ${day}`), /No line of rail-wave from .* was imported/);
  assert.deepEqual(await daysOf(), days);
  const closed = await run(`reconcile run --network wave --day ${day} --closing-balance 635.50`);
  assert.equal(closed.exitCode, 0, closed.text);
});

test('the list of one account has its days, however many newer days others have', async () => {
  const daysOf = async () => ((await run('reconcile list --network wave')).data as { days: unknown[] }).days;
  const days = await daysOf();
  assert.ok(days.length > 0);
  const text = `INSERT INTO reconciliation_days
     SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'rail_account', 'other', 'day', one.day + number))).*
       FROM reconciliation_days AS one, generate_series(1, 40) AS number
      WHERE one.rail_account = 'rail-wave' AND one.day = (SELECT max(day) FROM reconciliation_days)`;
  await world.db.run({ name: 'test.daysOfAnother', text, values: [] });
  assert.deepEqual(await daysOf(), days);
});

test('a mapping is tried and saved by command, and wrong words are refused with what is possible', async () => {
  const path = fileOf('bank.csv', 'Ref;Day;Money\nM-1;20/11/2026 07:36;12,50\n');
  const definition = fileOf(
    'm.json',
    '{"columns":{"transaction_id":"Ref","time":"Day","amount":"Money"},"decimal":","}',
  );
  const tried = await run(`reconcile try --network wave --file ${path} --definition ${definition} --save bank`);
  assert.match(tried.text, /D12.50[\s\S]*Saved as bank/);
  const imported = await run(`reconcile import --network wave --file ${path} --mapping bank`);
  assert.match(imported.text, /^1 new lines/);
  await assert.rejects(run(`reconcile import --network wave --file ${path} --mapping other`), /It has bank/);
  await assert.rejects(run(`reconcile import --network nowhere --file ${path}`), /Name one of rail-wave/);
  await assert.rejects(run(`reconcile import --network wave --file ${directory}/none`), /There is no such file/);
  await assert.rejects(run('reconcile run --network wave --day 2026-02-30'), UsageError);
  await assert.rejects(run('reconcile run --network wave --day 2036-01-01'), /has not begun/);
  await assert.rejects(run('reconcile explain T-nowhere'), /No statement has this id/);
});
