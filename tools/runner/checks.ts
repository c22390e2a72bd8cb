import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './command.ts';
import { excerpt, seconds } from './text.ts';
import { startLimited } from './start-limited.ts';

interface Check {
  name: string;
  /** What Node runs, from the root of the repository. */
  args: string[];
}

const knip = ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'];

/** No test runs while the types are wrong. */
export const typesCheckName = 'types';

/** What every change has to pass besides the tests. */
const checks: Check[] = [
  { name: 'format', args: ['node_modules/oxfmt/bin/oxfmt', '--list-different'] },
  { name: 'lint', args: ['node_modules/oxlint/bin/oxlint', '--format=agent'] },
  // Each further checker reads most of the types again: four take twice the processor time of one.
  {
    name: typesCheckName,
    args: ['node_modules/typescript/bin/tsc', '-p', '.', '--pretty', 'false', '--checkers', '1'],
  },
  { name: 'import levels', args: ['tools/import-levels.ts'] },
  { name: 'dead code', args: knip },
  // Code that only tests use is dead too, unless its comment says @internal.
  { name: 'test-only code', args: [...knip, '--production', '--include', 'files,exports,types'] },
  { name: 'tidy', args: ['tools/tidy.ts'] },
  { name: 'schema', args: ['tools/schema-snapshot.ts', '--check'] },
  { name: 'openapi', args: ['tools/openapi.ts', '--check'] },
  { name: 'promises', args: ['tools/promises.ts', '--check'] },
];

// Both type checkers are programs in Go. Two of its threads read most of the types twice, and there is memory to collect garbage
// less often: the linter takes 17 s of processor time instead of 24, the compiler 11 instead of 13.
const environment = { GOMAXPROCS: '1', GOGC: '400' };

// The smallest supported machine has two processors, and a check keeps one busy.
const concurrencyMax = 2;

/** Runs every check, prints a line for each, and returns the names of those that failed. */
export async function runChecks(repository: string): Promise<string[]> {
  const present = checks.filter(({ args }) => existsSync(join(repository, args[0] ?? '')));
  const results = startLimited(present, concurrencyMax, ({ args }) => runNode(args, repository, environment));
  const failed: string[] = [];
  for (const [index, { name }] of present.entries()) {
    const result = await results[index];
    if (!result) continue;
    const { isOk, output, durationMs } = result;
    console.log(`${name.padEnd(15)} ${isOk ? 'ok    ' : 'failed'} ${seconds(durationMs)}`);
    if (isOk) continue;
    console.log(excerpt(output, '  '));
    failed.push(name);
  }
  return failed;
}
