import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codeOnly, findPieces } from './pieces.ts';

function piecesOf(source: string): string[] {
  return findPieces(source).map((piece) => `${piece.kind} ${piece.text}`);
}

describe('the pieces of TypeScript', () => {
  test('comments, strings and templates are found where they start', () => {
    const source = `const a = 'b'; // c\nconst d = "e" /* f\ng */ + \`h\`;`;
    assert.deepEqual(piecesOf(source), ['string b', 'comment // c', 'string e', 'comment /* f\ng */', 'template h']);
    for (const { start, text } of findPieces(source)) assert.equal(source.slice(start, start + text.length), text);
  });

  test('a quote inside another kind of quote, a comment or a pattern starts nothing', () => {
    assert.deepEqual(piecesOf(`f("it's", 'say "x"', 'don\\'t'); // it's`), [
      `string it's`,
      `string say "x"`,
      `string don\\'t`,
      `comment // it's`,
    ]);
    assert.deepEqual(piecesOf(`const p = /['"]\\/[/']/g; const q = 'r';`), [`string ['"]\\/[/']`, 'string r']);
    assert.deepEqual(piecesOf(`return /'/.test(x) ? 'a' : 'b';`), [`string '`, 'string a', 'string b']);
  });

  test('a slash after a value divides', () => {
    assert.deepEqual(piecesOf(`const a = b / c / 'd'.length; const e = (f) / 2; // g`), ['string d', 'comment // g']);
  });

  test('a template keeps its placeholders, and strings in them are pieces too', () => {
    assert.deepEqual(piecesOf("f(`a ${b ? 'c' : `d ${e({ f: 1 })}`} g`, 'h')"), [
      "template a ${b ? 'c' : `d ${e({ f: 1 })}`} g",
      'string c',
      'template d ${e({ f: 1 })}',
      'string h',
    ]);
  });

  test('the code alone keeps its length, its lines and what placeholders run', () => {
    const source = "const a = `x ${new Date()} 'y`; // new Date()\nconst b = 'new Date()'; g(😀);";
    const code = codeOnly(source);
    assert.equal(code.length, source.length);
    assert.equal(code.split('\n').length, 2);
    assert.equal([...code.matchAll(/new Date\(\)/g)].length, 1);
    assert.doesNotMatch(code, /[xy]/);
  });
});
