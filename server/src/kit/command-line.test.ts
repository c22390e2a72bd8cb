import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './command-line.ts';

test('a table has aligned columns, however many rows there are', () => {
  const rows = Array.from({ length: 200_000 }, (_, row) => [String(row), row === 7 ? 'seven' : '']);
  const lines = table(['ROW', 'NAME'], rows).split('\n');
  assert.equal(lines.length, 200_001);
  assert.deepEqual([lines[0], lines[8], lines.at(-1)], ['ROW     NAME', '7       seven', '199999']);
});
