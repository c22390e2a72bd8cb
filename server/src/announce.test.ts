import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTeller } from './announce.ts';
import { createLog } from './kit/log.ts';

function sayWith(terminals: { out: boolean; error: boolean }): { printed: string[]; logged: string[] } {
  const [printed, logged]: string[][] = [[], []];
  const log = createLog({
    level: 'info',
    write: (line) => logged?.push(String((JSON.parse(line) as Record<string, unknown>)['msg'])),
  });
  const stdout = { isTTY: terminals.out, write: (text: string) => printed?.push(text) };
  createTeller(log, { stdout, stderr: { isTTY: terminals.error } })('Stopped.');
  return { printed: printed ?? [], logged: logged ?? [] };
}

test('what the process says of itself is printed and logged, but not shown twice on one terminal', () => {
  const both = { printed: ['Stopped.\n'], logged: ['Stopped.'] };
  assert.deepEqual(sayWith({ out: false, error: false }), both);
  assert.deepEqual(sayWith({ out: true, error: false }), both);
  assert.deepEqual(sayWith({ out: false, error: true }), both);
  assert.deepEqual(sayWith({ out: true, error: true }), { ...both, logged: [] });
});
