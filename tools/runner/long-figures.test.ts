import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hashOfSources, readLongFigures, recordLongFigures } from './long-figures.ts';

const ended = { durationMs: 12_400, isOk: true, figures: ['3 of 10000 came again'] };

let repository: string;

before(() => {
  repository = mkdtempSync(join(tmpdir(), 'dalasi-long-'));
  for (const folder of ['benchmarks', 'docs']) mkdirSync(join(repository, folder));
  writeFileSync(join(repository, 'one.ts'), '1');
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.gm', 'commit', '-qm', 'one');
});

after(() => rmSync(repository, { recursive: true, force: true }));

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: repository });
}

test('a file keeps its last figures, with their date and sources, while others are run', () => {
  recordLongFigures(repository, [{ path: 'b.test.ts', ...ended }], '2026-11-20');
  recordLongFigures(repository, [{ path: 'a.test.ts', ...ended, isOk: false }], '2026-11-21');
  const figures = readLongFigures(repository);
  assert.deepEqual(Object.keys(figures), ['a.test.ts', 'b.test.ts']);
  const { commit, ...b } = figures['b.test.ts'] ?? assert.fail();
  const sources = hashOfSources(repository);
  assert.deepEqual(b, { date: '2026-11-20', sources, seconds: 12, isOk: true, figures: ['3 of 10000 came again'] });
  assert.match(commit, /^[0-9a-f]{7,}$/);
  assert.equal(figures['a.test.ts']?.isOk, false);
});

test('sources are other ones after any change of a file, committed or not, but not after a long run', () => {
  const before = hashOfSources(repository);
  for (const path of ['benchmarks/long-run.json', 'docs/promises.md']) writeFileSync(join(repository, path), '{}');
  assert.equal(hashOfSources(repository), before);
  writeFileSync(join(repository, 'two.ts'), '');
  const withNew = hashOfSources(repository);
  writeFileSync(join(repository, 'one.ts'), '2');
  const changed = hashOfSources(repository);
  assert.equal(new Set([before, withNew, changed]).size, 3);
  git('add', '.');
  assert.equal(hashOfSources(repository), changed);
});
