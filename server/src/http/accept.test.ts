import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersCsv } from './accept.ts';

for (const [accept, isCsv] of [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['TEXT/CSV; charset=utf-8', true],
  ['text/csv, application/json', true],
  ['application/json, text/csv', false],
  ['application/json;q=0.5, text/csv', true],
  ['text/csv;q=0.1, application/json;q=0.9', false],
  ['text/csv;q=0', false],
  ['text/csv;q=nonsense', false],
  ['text/html, text/csv;q=0.9, */*;q=0.8', true],
  ['text/*', false],
] as const) {
  test(`a client that accepts ${accept ?? 'anything'} gets ${isCsv ? 'CSV' : 'JSON'}`, () => {
    assert.equal(prefersCsv(accept), isCsv);
  });
}
