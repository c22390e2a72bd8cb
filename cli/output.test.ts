import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { createOutput } from './output.ts';

/** What is printed in green, with standard output at a terminal or in a pipe. */
function printGreen(environment: Record<string, string>, isTTY: boolean): string {
  let written = '';
  const write = (text: string, _encoding: string, done: () => void): void => {
    written += text;
    done();
  };
  const stdout = Object.assign(new Writable({ decodeStrings: false, write }), { isTTY });
  const output = createOutput({ stdout, stderr: stdout }, { isJson: false, environment });
  output.item(output.colour('green', 'yes'), {});
  return written;
}

test('colours appear only at a terminal, and NO_COLOR, FORCE_COLOR and TERM are obeyed', () => {
  const terminal = { TERM: 'xterm' };
  const coloured = '\u001b[32myes\u001b[39m\n';
  assert.equal(printGreen(terminal, true), coloured);
  assert.equal(printGreen(terminal, false), 'yes\n');
  assert.equal(printGreen({ ...terminal, NO_COLOR: '1' }, true), 'yes\n');
  assert.equal(printGreen({ TERM: 'dumb' }, true), 'yes\n');
  assert.equal(printGreen({ ...terminal, FORCE_COLOR: '1' }, false), coloured);
  assert.equal(printGreen({ ...terminal, FORCE_COLOR: '0' }, true), 'yes\n');
});
