import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStartupLog } from './startup-log.ts';
import { createServiceLog } from '../api/service-log.ts';

function printWith(terminals: { out: boolean; error: boolean }): { printed: string[]; logged: string[] } {
  const [printed, logged]: string[][] = [[], []];
  const log = createServiceLog({
    level: 'info',
    write: (line) => logged?.push(String((JSON.parse(line) as Record<string, unknown>)['msg'])),
  });
  const stdout = { isTTY: terminals.out, write: (text: string) => printed?.push(text) };
  createStartupLog(log, { stdout, stderr: { isTTY: terminals.error } })('Stopped.');
  return { printed: printed ?? [], logged: logged ?? [] };
}

test('startup lines are printed and logged, but shown once when both go to one terminal', () => {
  const both = { printed: ['Stopped.\n'], logged: ['Stopped.'] };
  assert.deepEqual(printWith({ out: false, error: false }), both);
  assert.deepEqual(printWith({ out: true, error: false }), both);
  assert.deepEqual(printWith({ out: false, error: true }), both);
  assert.deepEqual(printWith({ out: true, error: true }), { ...both, logged: [] });
});
