import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { idsBy } from '../kit/run-statement.ts';
import { createRefundWorld, type RefundWorld } from '../refunds/refund-world.corpus.ts';
import { findStatementAccount, type StatementAccount } from './account.ts';
import { importFile, saveMapping, tryMapping } from './import-file.ts';
import { importLines, refusalsMax, type ImportedRow } from './import-lines.ts';
import { readMapping } from './mapping.ts';
import { isImportIncomplete } from './queries/imports.ts';
import { findLines } from './queries/lines.ts';
import { noTransactionRefusal } from './read-line.ts';
import type { StatementLine } from './statement-line.ts';
import { lineOf } from './statement-world.corpus.ts';
import { workbookOf, zipOf } from './workbook.corpus.ts';

let world: RefundWorld;
let account: StatementAccount;
const directory = mkdtempSync(join(tmpdir(), 'dalasi-statements-'));
let files = 0;

before(async () => {
  world = await createRefundWorld();
  account = await findStatementAccount(world.context, 'wave');
});

after(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

async function fileOf(content: string | Uint8Array, name = 'lines.csv'): Promise<string> {
  files += 1;
  const path = join(directory, `${files}-${name}`);
  await writeFile(path, content);
  return path;
}

/** A CSV file with the usual headings, and a day of its own. */
const head = 'transaction_id,timestamp,amount,fee,currency,transaction_type,client_reference,balance';
let day = '2026-01-01';

function newDay(): void {
  const next = new Date(`${day}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  day = next.toISOString().slice(0, 10);
}

const csv = (rows: readonly string[]): string => [head, ...rows].join('\n');
const row = (id: string, amount: string, more = '1.00,GMD,api_checkout,,'): string =>
  `${id},${day}T10:00:00Z,${amount},${more}`;

const importOf = async (content: string | Uint8Array, mapping: string | null = null) =>
  importFile(world.context, account, { path: await fileOf(content), mapping });

const listLineIds = idsBy<[railAccount: string, day: string]>({
  name: 'test_lines_of_day',
  text: 'SELECT id FROM statement_lines WHERE rail_account = $1 AND day = $2',
});

/** The lines of the day, in the order in which they were imported. */
async function linesOf(): Promise<StatementLine[]> {
  const ids = await listLineIds(world.db, account.railAccount, day);
  const lines = await findLines(world.db, account.railAccount, ids);
  return lines.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

test('a line is imported once, in whatever files it stands', async () => {
  newDay();
  const first = await importOf(csv([row('T-1', '99.00'), row('T-2', '49.00')]));
  assert.deepEqual([first.linesNew, first.linesKnown, first.linesRefused], [2n, 0n, 0n]);
  const other = await importOf(csv([row('T-2', '49.00'), row('T-3', '9.00')]));
  assert.deepEqual([other.linesNew, other.linesKnown], [1n, 1n]);
  const lines = await linesOf();
  assert.deepEqual(lines.map(({ transactionId }) => transactionId).toSorted(), ['T-1', 'T-2', 'T-3']);
  const [line] = lines.filter(({ transactionId }) => transactionId === 'T-1');
  assert.deepEqual(
    [line?.kind, line?.netMinor, line?.grossMinor, line?.feeMinor],
    ['collection', 9_900n, 10_000n, 100n],
  );
});

test('the same file again reads nothing, and the same transaction twice in a file is two lines', async () => {
  newDay();
  const content = csv([row('D-1', '99.00'), row('D-1', '99.00')]);
  const first = await importOf(content);
  const again = await importOf(content);
  assert.deepEqual([first.linesNew, again.isRepeated, again.linesNew], [2n, true, 2n]);
  const changed = await importOf(`${content}\n${row('D-2', '5.00')}`);
  assert.deepEqual([changed.linesNew, changed.linesKnown], [1n, 2n]);
  const ordinals = (await linesOf()).filter(({ transactionId }) => transactionId === 'D-1').map((each) => each.ordinal);
  assert.deepEqual(ordinals.toSorted(), [1n, 2n]);
});

test('a transaction id that stands in more than a hundred rows is refused: it is another column', async () => {
  newDay();
  const rows = Array.from({ length: 600 }, (_, index) => row('7001234', `${index + 1}.00`));
  const content = csv([...rows, row('R-1', '5.00')]);
  const first = await importOf(content);
  assert.deepEqual([first.linesNew, first.linesRefused], [101n, 500n]);
  assert.deepEqual(first.refusals[0], {
    rowNumber: 102,
    reason: 'Its transaction id stands in more than 100 rows. Another column may have the ids.',
  });
  const again = await importOf(`${content}\n${row('R-2', '5.00')}`);
  assert.deepEqual([again.linesNew, again.linesKnown, again.linesRefused], [1n, 101n, 500n]);
});

test('each bad row is refused with its reason, and the good rows beside it count', async () => {
  newDay();
  const bad: [string, RegExp][] = [
    [row('B-1', '99.00', '1.00,XOF,api_checkout,,'), /not in GMD/],
    [row('x'.repeat(20_000), '99.00'), /transaction id is too long/],
    [row('B\u0007\u001b[31m', '99.00'), /characters that ids do not have/],
    [row('=HYPERLINK(1)', '99.00'), /is a formula/],
    [row('B-5', '-99.00'), /below zero, which a collection is not/],
    [row('B-6', '99.00', '-1.00,GMD,api_checkout,,'), /fee is below zero/],
    [row('B-7', '1.234'), /cannot be read as an amount/],
    [row('B-8', '0'), /amount is zero/],
    [`B-9,2026-02-30T10:00:00Z,99.00,1.00,GMD,api_checkout,,`, /time cannot be read/],
    [`B-10,2036-01-01T10:00:00Z,99.00,1.00,GMD,api_checkout,,`, /not one of this statement/],
    [`${'a,'.repeat(1_000)}z`, /more than 200 columns/],
    [row('B-12', '1,250.00'), /more cells than there are headings/],
    [row('B-11', '"99'), /quote|Its/],
  ];
  const [lastBad] = bad.splice(-1);
  assert.ok(lastBad);
  const rows = bad.flatMap(([text], index) => [text, row(`G-${index}`, '10.00')]);
  const imported = await importOf(csv([...rows, lastBad[0]]));
  assert.equal(imported.linesNew, BigInt(bad.length));
  assert.equal(imported.linesRefused, BigInt(bad.length + 1));
  for (const [index, [, reason]] of bad.entries()) assert.match(imported.refusals[index]?.reason ?? '', reason);
  assert.match(imported.refusals.at(-1)?.reason ?? '', lastBad[1]);
  assert.doesNotMatch(JSON.stringify(imported.refusals), /\\u00|HYPERLINK|xxxx/);
});

test('rows may end with a separator where the headings do, which lets none through that is shifted', async () => {
  newDay();
  const headings = 'Transaction ID,Date,Amount,Balance';
  const whole = `E-1,${day} 10:00:00,99.00,99.00,`;
  const alike = await importOf([`${headings},`, whole, `E-2,${day} 10:00:00,1,250.00,1349.00`].join('\n'));
  assert.deepEqual([alike.linesNew, alike.linesRefused], [1n, 1n]);
  const bare = await importOf([headings, whole].join('\n'));
  assert.deepEqual([bare.linesNew, bare.linesRefused], [0n, 1n]);
  for (const { reason } of [...alike.refusals, ...bare.refusals]) assert.match(reason, /end the headings with a sep/);
});

test('a file in another encoding is read by its mark or its mapping, and else harms nothing', async () => {
  newDay();
  const text = csv([`U-1,${day}T10:00:00Z,99.00,1.00,GMD,api_checkout,,`]).replace('client_reference', 'name');
  const named = text.replace('api_checkout,,', 'api_checkout,Café Ŋaa,');
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(named, 'utf16le')]);
  assert.equal((await importOf(utf16)).linesNew, 1n);
  assert.equal((await linesOf())[0]?.counterpartyName, 'Café Ŋaa');
  const latin = Buffer.from(named.replaceAll('U-1', 'U-2').replace('Ŋ', 'N'), 'latin1');
  assert.equal((await importOf(latin)).linesNew, 1n);
  const shown = (await linesOf()).find(({ transactionId }) => transactionId === 'U-2');
  assert.equal(shown?.counterpartyName, 'Caf\ufffd Naa');
});

test('a workbook is read with its formulas as text', async () => {
  newDay();
  const shared = ['Transaction ID', 'Date', 'Paid in', 'Paid out', 'X-1'];
  const heading = `<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c><c r="C3" t="s"><v>2</v></c><c r="D3" t="s"><v>3</v></c></row>`;
  const serial = (Date.parse(`${day}T12:00:00Z`) - Date.UTC(1899, 11, 30)) / 86_400_000;
  const good = `<row r="4"><c r="A4" t="s"><v>4</v></c><c r="B4"><v>${serial}</v></c><c r="C4"><v>1250.4000000000001</v></c></row>`;
  const formula = `<row r="5"><c r="A5" t="str"><v>X-2</v></c><c r="B5"><v>${serial}</v></c><c r="D5"><f>SUM(A1:A9)</f><v>5</v></c></row>`;
  const imported = await importOf(
    workbookOf(
      `<row r="1"><c r="A1" t="inlineStr"><is><t>Statement</t></is></c></row>${heading}${good}${formula}`,
      shared,
    ),
  );
  assert.deepEqual([imported.linesNew, imported.linesRefused], [1n, 1n]);
  assert.match(imported.refusals[0]?.reason ?? '', /debit is a formula/);
  const [line] = await linesOf();
  assert.deepEqual([line?.netMinor, line?.at.toISOString()], [125_040n, `${day}T12:00:00.000Z`]);
});

test('a workbook that unpacks to very much, or has a million columns, is refused at once', async () => {
  const sheet = Buffer.alloc(24 * 1_024 * 1_024, '<c></c>');
  const bomb = zipOf({ 'xl/worksheets/sheet1.xml': sheet });
  assert.ok(bomb.length < 200_000);
  await assert.rejects(importOf(bomb), /unpacks to far more|no XML of a workbook/);
  await assert.rejects(
    importOf(
      zipOf({
        'xl/worksheets/sheet1.xml': Buffer.concat([Buffer.from('<worksheet>'), Buffer.alloc(24 * 1_024 * 1_024, ' ')]),
      }),
    ),
    /unpacks to far more/,
  );
  const wide = Array.from({ length: 1_000_000 }, () => '<c t="str"><v>x</v></c>').join('');
  await assert.rejects(importOf(workbookOf(`<row r="1">${wide}</row>`)), /No row has headings|unpacks to far more/);
  await assert.rejects(importOf(workbookOf(`<!DOCTYPE x [<!ENTITY a "b">]><row/>`)), /no XML of a workbook/);
  await assert.rejects(importOf(Buffer.from('PK\u0003\u0004 nothing')), /archive cannot be read/);
});

test('a stray quote harms its own row only, and one that is never closed is named', async () => {
  newDay();
  const rows = ['"9"9', '9"9', '"99".00'].flatMap((amount, index) => [
    row(`Q-${index}`, amount),
    row(`R-${index}`, '1'),
  ]);
  const imported = await importOf(
    csv([...rows, row('Q-3', '"99'), row('S-1', '1'), row('S-2', '"1"'), row('R-3', '1')]),
  );
  assert.deepEqual([imported.linesNew, imported.linesRefused], [4n, 4n]);
  assert.match(imported.refusals[3]?.reason ?? '', /It goes over several lines: a quote may be missing/);
  const endless = csv([row('T-1', '1'), row('T-2', '"1'), ...Array.from({ length: 20_000 }, () => row('T-3', '1'))]);
  await assert.rejects(importOf(endless), /quote is not closed by line/);
});

test('a row of a million columns, of megabytes or of zero bytes is refused, and the rows beside it count', async () => {
  newDay();
  const hostile = [
    'x,'.repeat(1_000_000),
    row('W-1', '99.00', `1.00,GMD,api_checkout,${'y'.repeat(2_000_000)},`),
    row('W\u0000', '99.00'),
    row('\u202eW-2', '99.00'),
    row('W-3', '9'.repeat(20_000)),
    row('W-4', '1e3'),
  ];
  const rows = hostile.flatMap((text, index) => [text, row(`N-${index}`, '10.00')]);
  const imported = await importOf(csv(rows));
  assert.deepEqual([imported.linesNew, imported.linesRefused], [6n, 6n]);
  assert.match(imported.refusals[0]?.reason ?? '', /longer than|more than 200 columns/);
  assert.doesNotMatch(JSON.stringify(imported.refusals), /\\u|yyyy|9999/);
});

test('an id that a spreadsheet has rounded is refused, because a thousand others look the same', async () => {
  newDay();
  const rounded = ['1.23457E+15', '1e+17', '9.9E+20'].map((id) => row(id, '10.00'));
  const imported = await importOf(csv([...rounded, row('5E17', '10.00'), row('1234567890123456789', '10.00')]));
  assert.deepEqual([imported.linesNew, imported.linesRefused], [2n, 3n]);
  for (const { reason } of imported.refusals) assert.match(reason, /A spreadsheet has rounded its transaction id/);
  newDay();
  const heading =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>';
  const cells = ['1.2345678901234501E+17', '123456789012345', '1E3'].map(
    (id, index) => `<row r="${index + 2}"><c><v>${id}</v></c><c t="str"><v>${day}</v></c><c><v>12.5</v></c></row>`,
  );
  const book = await importOf(workbookOf(`${heading}${cells.join('')}`, ['Transaction ID', 'Date', 'Amount']));
  assert.deepEqual([book.linesNew, book.linesRefused], [2n, 1n]);
  assert.deepEqual((await linesOf()).map(({ transactionId }) => transactionId).toSorted(), ['1000', '123456789012345']);
});

test('cells are told apart by what separates them, also below lines about the account', async () => {
  newDay();
  const about = ['Statement of account', 'Kairaba Books, Banjul, The Gambia', 'Period: 1 March, 31 March', ''];
  for (const [index, mark] of [';', '\t', '|', ','].entries()) {
    const heading = ['Transaction ID', 'Date', 'Amount', 'Balance'].join(mark);
    const line = [`P-${index}`, `${day} 10:00:00`, '1250.00', '2500.00'].join(mark);
    const imported = await importOf([...about, heading, line].join('\r\n'));
    assert.deepEqual([imported.linesNew, imported.linesRefused], [1n, 0n], mark);
  }
});

test('a mapping is tried before it is saved, and then used', async () => {
  newDay();
  const content = `Ref;Quand;Type;Montant\nM-1;01/03/2026 07:36;ENCAISSEMENT;1.250,50\n`;
  const path = await fileOf(content);
  const definition = {
    columns: { transaction_id: 'Ref', time: 'Quand', type: 'Type', amount: 'Montant' },
    ...{ sign: 'by_type', amount: 'gross', decimal: ',', types: { encaissement: 'collection' } },
  };
  await assert.rejects(importOf(content), /No row has headings/);
  assert.throws(() => readMapping({ columns: { time: 'Quand' } }), /names no column for transaction_id/);
  const tried = await tryMapping(world.context, account, { path, mapping: readMapping(definition), rowsMax: 10 });
  const [first] = tried.rows;
  assert.ok(first && 'line' in first);
  assert.deepEqual(
    [first.line.grossMinor, first.line.kind, first.line.at.toISOString()],
    [125_050n, 'collection', '2026-03-01T07:36:00.000Z'],
  );
  const useless = await tryMapping(world.context, account, {
    path,
    mapping: readMapping({ ...definition, decimal: '.' }),
    rowsMax: 10,
  });
  await assert.rejects(saveMapping(world.context, account, { name: 'bank', tried: useless }), /not saved/);
  await saveMapping(world.context, account, { name: 'bank', tried });
  assert.equal((await importOf(content, 'bank')).linesNew, 1n);
  await assert.rejects(importOf(content, 'other'), /It has bank/);
});

test('an import that was killed goes on where it was, and two at once do not count twice', async () => {
  newDay();
  const at = new Date(`${day}T10:00:00Z`);
  const entry = {
    kind: 'collection',
    status: 'completed',
    at,
    netMinor: 100n,
    grossMinor: 100n,
    feeMinor: null,
  } as const;
  const rest = {
    currency: 'GMD',
    balanceMinor: null,
    reference: null,
    originalTransactionId: null,
    counterpartyNumber: null,
    counterpartyName: null,
  };
  async function* rows(count: number, killAt = Infinity) {
    for (let index = 1; index <= count; index += 1) {
      if (index === killAt) throw new Error('killed');
      yield { rowNumber: index, line: { ...entry, ...rest, transactionId: `K-${index}` } };
    }
  }
  const about = { source: 'file', name: 'k.csv', fingerprint: 'killed' } as const;
  const progress: number[] = [];
  await assert.rejects(importLines(world.context, account, { ...about, rows: rows(2_500, 2_200) }), /killed/);
  const { imported } = await importLines(world.context, account, { ...about, rows: rows(2_500) }, (done) =>
    progress.push(done),
  );
  assert.deepEqual([imported.linesNew, imported.linesKnown], [2_500n, 0n]);
  // Nothing before the last batch that was committed is stored again.
  assert.deepEqual([...new Set(progress)], [2_500]);
  const other = { ...about, fingerprint: 'twice' };
  const both = await Promise.allSettled(
    [1, 2].map(() => importLines(world.context, account, { ...other, rows: rows(1_500) })),
  );
  const counted = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value.imported.linesKnown] : []));
  assert.ok(counted.length >= 1 && counted.every((known) => known === 1_500n), String(counted));
});

test('which days an import with refused rows, or one that has not ended, leaves incomplete', async () => {
  const aps = await findStatementAccount(world.context, 'aps');
  const [from, middle, to] = ['2026-11-01', '2026-11-02', '2026-11-03'];
  let statements = 0;
  const lines = (...days: string[]): ImportedRow[] =>
    days.map((each, index) => {
      const line = lineOf({ transactionId: `I-${index}-${each}`, at: new Date(`${each}T10:00:00Z`) });
      return { rowNumber: index + 1, line };
    });
  const refused = (refusal: string, count: number): ImportedRow[] =>
    Array.from({ length: count }, (_, index) => ({ rowNumber: index + 10, refusal }));
  const imported = async (lineRows: readonly ImportedRow[], isStopped = false): Promise<void> => {
    statements += 1;
    async function* rows() {
      yield* lineRows;
      if (isStopped) throw new Error('stopped');
    }
    const about = { source: 'file', name: 'lines.csv', fingerprint: `incomplete ${statements}` } as const;
    await importLines(world.context, aps, { ...about, rows: rows() });
  };
  const incomplete = async (...days: string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const each of days) {
      const about = { day: each, expected: noTransactionRefusal, refusalsMax };
      if (await isImportIncomplete(world.db, aps.railAccount, about)) found.push(each);
    }
    return found;
  };
  const sums = refused(noTransactionRefusal, refusalsMax + 1);
  await imported([...lines(from, to), ...sums]);
  assert.deepEqual(await incomplete(from, middle, to), [], 'rows without a transaction id, more than are stored');
  await imported([...lines(from, to), ...refused('Its time cannot be read.', 1)]);
  assert.deepEqual(await incomplete(from, middle, to), [from, middle, to]);
  await imported(lines(middle));
  assert.deepEqual(await incomplete(from, middle, to), [from, to], 'a corrected file of one day');
  await imported(lines(from, to));
  assert.deepEqual(await incomplete(from, middle, to), []);

  const now = world.clock.now();
  const [today, tomorrow] = [utcDay(now), utcDay(addMs(now, dayMs))];
  await assert.rejects(imported([...lines(from), ...lines(...Array.from({ length: 500 }, () => middle))], true));
  assert.deepEqual(await incomplete(from, today, tomorrow), [from, today], 'one that has stopped knows no later day');
  await imported(lines(middle));
  assert.deepEqual(await incomplete(from), [from], 'it had read more days');
  await imported(lines(from, middle));
  assert.deepEqual(await incomplete(from, today), []);
});
