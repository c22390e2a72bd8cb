import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PiecesUnderWay } from './pieces-under-way.ts';

/** Follows pieces that end when the test says so, and remembers who was poked. */
function controlled(limits: { totalMax: number; perKeyMax: number }) {
  const pieces = new PiecesUnderWay(limits);
  const poked: string[] = [];
  const running: { key: string; end: () => void }[] = [];
  pieces.onRoom((key) => poked.push(key));
  return {
    pieces,
    poked,
    /** Takes what room there is for the key and fills it. */
    fill: (key: string): number => {
      const room = pieces.reserve(key);
      for (let piece = 0; piece < room; piece += 1) {
        const { promise, resolve } = Promise.withResolvers<void>();
        running.push({ key, end: resolve });
        pieces.follow(key, promise);
      }
      return room;
    },
    end: async (key: string, count: number): Promise<void> => {
      for (let piece = 0; piece < count; piece += 1) {
        const index = running.findIndex((entry) => entry.key === key);
        running.splice(index, 1)[0]?.end();
      }
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

test('a key has its own limit, and all keys together have theirs', () => {
  const { fill } = controlled({ totalMax: 20, perKeyMax: 8 });
  assert.deepEqual([fill('a'), fill('a'), fill('b'), fill('c'), fill('d')], [8, 0, 8, 4, 0]);
});

test('room that was taken and not used is there for others at once', () => {
  const { pieces, fill } = controlled({ totalMax: 8, perKeyMax: 8 });
  assert.equal(pieces.reserve('a'), 8);
  pieces.giveBack('a', 6);
  assert.equal(fill('b'), 6);
});

test('a key that had more to do is asked for when there is room worth a claim, and once', async () => {
  const { pieces, poked, fill, end } = controlled({ totalMax: 20, perKeyMax: 8 });
  fill('a');
  pieces.want('a');
  await end('a', 3);
  assert.deepEqual(poked, []);
  await end('a', 1);
  assert.deepEqual(poked, ['a']);
  await end('a', 4);
  assert.deepEqual(poked, ['a']);
});

test('a key whose last piece ends is asked for, however small its share', async () => {
  const { pieces, poked, fill, end } = controlled({ totalMax: 20, perKeyMax: 2 });
  fill('a');
  pieces.want('a');
  await end('a', 1);
  assert.deepEqual(poked, []);
  await end('a', 1);
  assert.deepEqual(poked, ['a']);
});

test('a key that found everything full is asked for when anybody’s piece ends', async () => {
  const { pieces, poked, fill, end } = controlled({ totalMax: 4, perKeyMax: 4 });
  fill('a');
  assert.equal(fill('b'), 0);
  pieces.want('b');
  await end('a', 1);
  assert.deepEqual(poked, ['b']);
});

test('it is idle when nothing is under way', async () => {
  const { pieces, fill, end } = controlled({ totalMax: 4, perKeyMax: 4 });
  assert.equal(pieces.isIdle, true);
  fill('a');
  assert.equal(pieces.isIdle, false);
  let isIdle = false;
  const idle = pieces.idle().then(() => (isIdle = true));
  await end('a', 3);
  assert.equal(isIdle, false);
  await end('a', 1);
  await idle;
  assert.equal(pieces.isIdle, true);
});
