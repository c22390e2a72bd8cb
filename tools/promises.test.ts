import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promiseGroups } from './promises/all-promises.ts';
import { findPromiseFaults } from './promises/find-faults.ts';
import type { ServicePromise } from './promises/promise.ts';
import { promisesPage } from './promises/promises-page.ts';
import { testTitles } from './promises/test-titles.ts';
import { partOf } from './runner/long-parts.ts';

const repository = join(import.meta.dirname, '..');
const money = 'server/src/kit/money.test.ts';

/** The faults after a change of one promise. */
function faultsAfter(id: string, change: Partial<ServicePromise> | null): string[] {
  const groups = promiseGroups.map(({ title, promises }) => ({
    title,
    promises: promises.flatMap((promise) => {
      if (promise.id !== id) return [promise];
      return change === null ? [] : [{ ...promise, ...change }];
    }),
  }));
  return findPromiseFaults(repository, groups);
}

describe('the promises', () => {
  it('have an entry each, and name tests, benchmarks and metrics that exist', () => {
    assert.deepEqual(findPromiseFaults(repository, promiseGroups), []);
  });

  it('fail when an entry, a test, a file, a benchmark or a metric is gone', () => {
    assert.deepEqual(faultsAfter('M7', null), ['M7 stands 0 times']);
    assert.deepEqual(faultsAfter('M7', { tests: { [money]: ['every dalasi'] } }), [
      `M7: ${money} has no test “every dalasi”`,
    ]);
    assert.match(
      faultsAfter('M7', { tests: { 'server/gone.test.ts': ['a'] } })[0] ?? '',
      /gone.test.ts does not exist/,
    );
    assert.deepEqual(faultsAfter('L1', { benchmarks: ['gone'] }), ['L1: benchmarks/results.md has no part gone']);
    assert.deepEqual(faultsAfter('M2', { metrics: ['dalasi_gone'] }), ['M2: no metric is called dalasi_gone']);
  });

  it('are not held without a test, by no test of the long run, or in production by no metric', () => {
    assert.deepEqual(faultsAfter('M4', { tests: {} }), ['M4: is open, or names what holds it']);
    assert.deepEqual(faultsAfter('M4', { gates: ['long'] }), ['M4: no test of the long run holds it']);
    assert.deepEqual(faultsAfter('M4', { gates: ['production'] }), ['M4: no metric holds it']);
    assert.deepEqual(faultsAfter('M4', { open: 'Nobody tries it.' }), ['M4: is open, or names what holds it']);
  });

  it('have titles as the sources have them, whatever a template fills in', () => {
    const source = [
      "test('one', () => {});",
      'it(`two ${a.map(({ b }) => `${b}`)} three`, () => {});',
      "testCrashStory({\n  title: 'four',",
      "// test('five')",
      "assert('six')",
    ].join('\n');
    const titles = testTitles(source);
    assert.ok(titles.has('one') && titles.has('four'));
    assert.ok(!titles.has('six'));
  });

  it('show the last figure of a long test and of a benchmark, and a failed one as failed', () => {
    const last = { commit: 'abc', sources: 'def', seconds: 12, figures: ['3 of 200 came again'], date: '2026-11-20' };
    const page = promisesPage(promiseGroups, {
      long: { [money]: { ...last, isOk: true }, 'test/stories/webhook-faults.test.ts': { ...last, isOk: false } },
      benchmarks:
        '<!-- part verify [{"label":"verifying","value":61,"aim":60,"better":"lower","unit":"s"}] -->\n2026-11-21 10:00',
      longFiles: new Set([money]),
    });
    assert.match(
      page,
      /\| M7 \|.*npm run test:long -- amounts.*\| money: passed, 12 s, 3 of 200 came again \(2026-11-20\) \|/,
    );
    assert.match(page, /webhook-faults: \*\*failed\*\*, 12 s/);
    assert.match(page, /verifying: 61 s, \*\*missed\*\* \(2026-11-21\)/);
  });

  it('name for each long test the part of the long run that has it', () => {
    assert.equal(partOf('server/src/payments/random-walks.test.ts'), 'walks');
    assert.equal(partOf('test/stories/crash-transfer.test.ts'), 'crashes-transfer');
    assert.equal(partOf('anything.test.ts'), 'requests');
  });
});
