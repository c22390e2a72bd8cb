import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagesOf } from './pages-of.ts';

/** The pages of a list of so many numbers, and how often it was read. */
async function readPages(count: number): Promise<{ pages: number[][]; reads: number }> {
  let reads = 0;
  const pages: number[][] = [];
  const read = (last: number | null) => {
    reads += 1;
    const first = (last ?? 0) + 1;
    return Promise.resolve([first, first + 1].filter((number) => number <= count));
  };
  for await (const page of pagesOf<number>(2, read)) pages.push(page);
  return { pages, reads };
}

test('A list is read after the last row of each page until a page is not full, and no page is empty', async () => {
  assert.deepEqual(await readPages(0), { pages: [], reads: 1 });
  assert.deepEqual(await readPages(3), { pages: [[1, 2], [3]], reads: 2 });
  assert.deepEqual(await readPages(4), {
    pages: [
      [1, 2],
      [3, 4],
    ],
    reads: 3,
  });
});
