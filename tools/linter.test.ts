import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runNode } from './runner/command.ts';

const repository = join(import.meta.dirname, '..');
const domain = 'server/src/payments';

/** What the house forbids and only the linter sees: the rule, the file, and the line that must not pass. */
const refused: [rule: string, file: string, line: string][] = [
  ['no-floating-promises', `${domain}/floating.ts`, 'Promise.resolve(1);'],
  ['no-misused-promises', `${domain}/misused.ts`, 'export const a = [1].filter(async () => Promise.resolve(true));'],
  ['await-thenable', `${domain}/thenable.ts`, 'export const a = async (b: number): Promise<number> => await b;'],
  [
    'switch-exhaustiveness-check',
    `${domain}/switch.ts`,
    `export function a(b: 'c' | 'd'): void { switch (b) { case 'c': a('d'); } }`,
  ],
  ['no-explicit-any', `${domain}/any.ts`, 'export const a: any = 1;'],
  ['no-unsafe-assignment', `${domain}/unsafe.ts`, `export const a = JSON.parse('1');`],
  ['no-non-null-assertion', `${domain}/non-null.ts`, 'export const a = (b: number[]): number => b[0]!;'],
  ['ban-ts-comment', `${domain}/comment.ts`, '// @ts-ignore\nexport const a = 1;'],
  ['consistent-type-imports', `${domain}/types.ts`, `import { Stats } from 'node:fs';\nexport type A = Stats;`],
  ['no-default-export', `${domain}/default.ts`, 'export default 1;'],
  ['no-barrel-file', `${domain}/barrel.ts`, `export * from './any.ts';`],
  ['eqeqeq', `${domain}/equal.ts`, 'export const a = (b: unknown): boolean => b == 1;'],
  ['filename-case', `${domain}/fileName.ts`, 'export const a = 1;'],
  ['id-denylist', `${domain}/short.ts`, 'export const msg = 1;'],
  ['max-lines)', `${domain}/long.ts`, `export const a = 1;\n${'// more\n'.repeat(400)}`],
  ['max-lines-per-function', `${domain}/long-function.ts`, `export function a(): void {${'\n  a();'.repeat(70)}\n}`],
  ['no-console', `${domain}/console.ts`, `console.log('a');`],
  ['no-process-env', `${domain}/environment.ts`, `export const a = process.env['A'];`],
  ['no-process-exit', `${domain}/exit.ts`, 'process.exit(1);'],
  ['no-restricted-globals', `${domain}/timeout.ts`, 'setTimeout(() => undefined, 1);'],
  ['no-restricted-globals', 'server/src/kit/interval.ts', 'globalThis.setInterval(() => undefined, 1);'],
  ['no-restricted-globals', `${domain}/float.ts`, `export const a = parseFloat('1');`],
  ['no-restricted-globals', `${domain}/fetch.ts`, `export const a = fetch('https://a.example');`],
  ['no-restricted-properties', `${domain}/now.ts`, 'export const a = Date.now();'],
  ['no-restricted-properties', `${domain}/random.ts`, 'export const a = Math.random();'],
  ['no-restricted-properties', `${domain}/fixed.ts`, 'export const a = (1).toFixed(2);'],
  [
    'no-restricted-imports',
    `${domain}/uuid.ts`,
    `import { randomUUID } from 'node:crypto';\nexport const a = randomUUID();`,
  ],
  [
    'no-restricted-imports',
    `${domain}/sleep.ts`,
    `import { setTimeout as a } from 'node:timers/promises';\nexport { a };`,
  ],
  [
    'no-restricted-imports',
    'test/sleep.test.ts',
    `import { setTimeout as a } from 'node:timers/promises';\nawait a(1);`,
  ],
  ['no-restricted-globals', 'test/timer.test.ts', 'setTimeout(() => undefined, 1);'],
  [
    'Unused oxlint-disable',
    `${domain}/disabled.ts`,
    '// oxlint-disable-next-line no-console -- why\nexport const a = 1;',
  ],
];

const allowed: [file: string, line: string][] = [
  ['server/src/kit/clock.ts', 'export const a = Date.now();\nsetTimeout(() => undefined, 1);'],
  ['server/src/kit/random.ts', `import { randomBytes } from 'node:crypto';\nexport const a = randomBytes(1);`],
  ['server/src/configuration/config.ts', `export const a = process.env['A'];`],
  ['server/src/operator/print.ts', `console.log('a');`],
  ['server/src/payments/a.test.ts', `import { test } from 'node:test';\ntest('a', () => undefined);`],
  ['tools/print.ts', `console.log('a', Date.now());`],
];

describe('the linter', () => {
  let root: string;
  let output: string;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'dalasi-linter-'));
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
      copyFileSync(join(repository, name), join(root, name));
    symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
    for (const [file, text] of [...refused.map(([, ...rest]) => rest), ...allowed]) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), `${text}\n`);
    }
    const oxlint = join(repository, 'node_modules/oxlint/bin/oxlint');
    const result = await runNode([oxlint, '--format=agent', 'server', 'test', 'tools'], root);
    assert.equal(result.isOk, false, 'the linter ends with an error');
    output = result.output;
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const linesAbout = (file: string) => output.split('\n').filter((line) => line.startsWith(`${file}:`));

  for (const [rule, file, text] of refused) {
    test(`${rule.replace(')', '')} refuses ${text.split('\n')[0]} in ${file}`, () => {
      const lines = linesAbout(file);
      assert.ok(
        lines.some((line) => line.includes(rule)),
        lines.join('\n') || 'nothing was found',
      );
    });
  }

  for (const [file, text] of allowed) {
    test(`${file} may say ${text.split('\n')[0]}`, () => assert.deepEqual(linesAbout(file), []));
  }
});
