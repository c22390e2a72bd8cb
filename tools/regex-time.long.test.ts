import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isServiceCode, isTest, readSourceFiles } from './tidy/source-files.ts';
import { visit } from './tidy/typescript.ts';

const repository = join(import.meta.dirname, '..');
// Twice as long as a URL, and longer than every other field that a pattern reads.
const textLength = 4_096;
const limitMs = 50;

/** Every regular expression of the service, once. What operators and users of `dalasi` type is their own. */
function findPatterns(): Map<string, RegExp> {
  const found = new Map<string, RegExp>();
  const isRead = (path: string): boolean =>
    isServiceCode(path) && !isTest(path) && !/^(?:cli|server\/src\/(?:configuration|operator|demo))\//.test(path);
  const serviceFiles = readSourceFiles(repository).filter(({ path }) => isRead(path));
  for (const file of serviceFiles) {
    visit(file, {
      Literal: (node) => {
        if (!('regex' in node) || !node.regex) return;
        const { pattern, flags } = node.regex;
        found.set(`${file.path}: /${pattern}/${flags}`, new RegExp(pattern, flags.replace('y', '')));
      },
    });
  }
  return found;
}

/** Long texts that a pattern with overlapping repetitions backtracks on: its own characters again and again, and one that ends it. */
function attacksOn({ source }: RegExp): string[] {
  const literals = source.replaceAll(/\\[dDwWsSbBpPux]|[[\](){}|^$*+?\\]/g, ' ').split(/\s+/);
  const own = literals.filter((each) => each !== '').flatMap((each) => [each, each.slice(0, 1), each.slice(-1)]);
  const usual = [
    'a',
    '0',
    ' ',
    '-',
    '_',
    '.',
    '/',
    '"',
    "'",
    '<',
    '&',
    '\\',
    '%',
    'é',
    '\n',
    'a ',
    'a.',
    'a-',
    '0,',
    'aB1',
    '\t ',
    '=',
    ';',
  ];
  const units = [...new Set([...own, ...usual])];
  const starts = ['', ...new Set(own)].slice(0, 4);
  return units.flatMap((unit) =>
    starts.flatMap((start) => ['!', '\0'].map((end) => start + unit.repeat(textLength / unit.length) + end)),
  );
}

/** The shortest of some tries, where the first is long: the machine may have done something else. */
function timeOf(pattern: RegExp, text: string, triesLeft = 4): number {
  const began = performance.now();
  pattern.lastIndex = 0;
  pattern.test(text);
  const ms = performance.now() - began;
  return ms < limitMs || triesLeft === 0 ? ms : Math.min(ms, timeOf(pattern, text, triesLeft - 1));
}

test('no regular expression of the service takes long for any text', (context) => {
  const patterns = findPatterns();
  const slow = new Map<string, string>();
  let longest = { ms: 0, name: '' };
  for (const [name, pattern] of patterns) {
    for (const text of attacksOn(pattern)) {
      const ms = timeOf(pattern, text);
      if (ms > longest.ms) longest = { ms, name };
      if (ms < limitMs) continue;
      slow.set(name, `${ms.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 10))}…`);
      break;
    }
  }
  assert.ok(patterns.size > 100, `${patterns.size} patterns`);
  assert.deepEqual([...slow], []);
  context.diagnostic(`${patterns.size} patterns, longest ${longest.ms.toFixed(1)} ms: ${longest.name}`);
});
