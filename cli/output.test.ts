import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const escape = '\u001B';
const coloured = new RegExp(`${escape}\\[32mgreen${escape}\\[39m`);

/** What a program prints that asks for green, with standard output at a terminal of its own or in a pipe. */
function print(settings: Record<string, string>, where: 'terminal' | 'pipe'): string {
  const program = `import { createOutput } from ${JSON.stringify(join(import.meta.dirname, 'output.ts'))};
    const output = createOutput(process, false); output.item(output.colour('green', 'green'), {});`;
  const node = [process.execPath, '--input-type=module', '-e', program];
  const quoted = node.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  // `script` of util-linux makes a terminal.
  const [file = '', ...args] = where === 'pipe' ? node : ['script', '-qec', quoted, '/dev/null'];
  const { PATH = '' } = process.env;
  const { stdout, error } = spawnSync(file, args, { env: { PATH, TERM: 'xterm', ...settings }, encoding: 'utf8' });
  assert.equal(error, undefined);
  return stdout;
}

test('there are colours at a terminal only, and NO_COLOR is obeyed', () => {
  assert.match(print({}, 'terminal'), coloured);
  assert.doesNotMatch(print({ NO_COLOR: '1' }, 'terminal'), coloured);
  assert.doesNotMatch(print({}, 'pipe'), coloured);
});
