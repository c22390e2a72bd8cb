import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type Log } from './log.ts';

/** What a terminal shows of what is logged. */
function shown(use: (log: Log) => void): string {
  let text = '';
  const write = (line: string): void => {
    text += line;
  };
  const fields = {
    logged: ['method', 'route', 'status', 'duration_ms', 'request_id', 'queue', 'reason'],
    differing: ['request_id'],
    omittedAtTerminal: ['request_id'],
  };
  use(createLog({ level: 'debug', fields, isTerminal: true, write }));
  return text;
}

test('at a terminal a request is one short line: time, status, method, route and how long it took', () => {
  const fields = { method: 'POST', route: '/v1/payments', status: 201, request_id: 'req_1', duration_ms: 12.3 };
  assert.match(
    shown((log) => log.info('request', fields)),
    /^\d\d:\d\d:\d\d {2}201 POST \/v1\/payments {2}12\.3 ms\n$/,
  );
});

test('at a terminal other lines show their level and fields, and an error its stack', () => {
  const warned = shown((log) =>
    log.warn('sending is paused', { queue: 'mail', reason: 'two words', request_id: 'req_1' }),
  );
  assert.match(warned, /^\S+ {2}warning: sending is paused {2}queue=mail {2}reason="two words"\n$/);
  const failed = shown((log) => log.error('a page failed', new Error('broken')));
  assert.match(failed, /^\S+ {2}error: a page failed {2}error=broken\nError: broken\n {4}at /);
});

test('at a terminal no line carries control characters, nor a field that may not be logged', () => {
  const error = new Error('\u001B[2J\u009B31m\u202Eevil');
  const text = shown((log) => log.error('a page failed', error, { body: 'secret' }));
  assert.doesNotMatch(text, /[^\P{C}\n]|secret/u);
  assert.match(text, /evil/);
});
