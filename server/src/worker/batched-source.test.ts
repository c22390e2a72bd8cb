import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../kit/log.ts';
import { batchedSource } from './batched-source.ts';
import type { WorkSource } from './worker.ts';

function batched(workBatch: (key: string) => Promise<boolean>) {
  const logged: string[] = [];
  const pieceByPiece: string[] = [];
  const pieces: WorkSource = {
    name: 'the work',
    sweepEveryMs: 1_000,
    keysMax: 1,
    listDueKeys: async () => ['a'],
    run: async (key) => {
      pieceByPiece.push(key);
    },
  };
  const log = createLog({ level: 'info', write: (line) => logged.push(line) });
  return { source: batchedSource(pieces, { log, workBatch }), logged, pieceByPiece };
}

test('batches follow each other as long as there may be more', async () => {
  const batches: string[] = [];
  const { source, pieceByPiece } = batched(async (key) => batches.push(key) < 3);
  await source.run('a', new AbortController().signal);
  assert.deepEqual(batches, ['a', 'a', 'a']);
  assert.deepEqual(pieceByPiece, []);
});

test('a batch that fails is logged and done piece by piece, so that one bad piece holds up no other', async () => {
  const { source, logged, pieceByPiece } = batched(() => Promise.reject(new Error('a bad piece')));
  await source.run('a', new AbortController().signal);
  assert.deepEqual(pieceByPiece, ['a']);
  assert.match(logged.join(), /a bad piece.*a batch of the work failed/s);
});

test('once it is to stop, no further batch is taken', async () => {
  const stopping = new AbortController();
  let batches = 0;
  const { source } = batched(async () => {
    batches += 1;
    stopping.abort();
    return true;
  });
  await source.run('a', stopping.signal);
  assert.equal(batches, 1);
});
