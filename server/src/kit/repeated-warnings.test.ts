import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from './log.ts';

const fields = { logged: ['request_id', 'merchant_id', 'repeated'], differing: ['request_id'], omittedAtTerminal: [] };

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: createLog({ level: 'info', fields, write }) };
}

test('of 500 equal warnings in a second ten are written, and one line counts the others', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { lines, log } = openLog();
  for (let number = 1; number <= 500; number += 1) log.warn('a request was refused', { request_id: `req_${number}` });
  assert.deepEqual([lines.length, lines[9]?.['request_id']], [10, 'req_10']);
  t.mock.timers.tick(1_000);
  assert.deepEqual([lines.length, lines[10]?.['request_id'], lines[10]?.['repeated']], [11, 'req_500', 490]);
  log.warn('a request was refused', { request_id: 'req_501' });
  assert.deepEqual([lines.length, lines[11]?.['request_id'], lines[11]?.['repeated']], [12, 'req_501', undefined]);
});

test('warnings that differ in more than their request are all written, and errors always', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { lines, log } = openLog();
  for (let number = 1; number <= 50; number += 1) log.warn('payouts are paused', { merchant_id: `merchant ${number}` });
  for (let number = 1; number <= 50; number += 1) log.error('a request failed', new Error('broken'));
  t.mock.timers.tick(1_000);
  assert.equal(lines.length, 100);
});
