import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../kit/clock.ts';
import { findLiveOwner, lockDataDirectory } from './data-directory-lock.ts';

// Above the largest process id of any system.
const pidOfNobody = 2 ** 30;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dalasi-lock-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a held lock refuses others and a released one does not', async () => {
  const lock = await lockDataDirectory(directory, systemClock);
  assert.equal(findLiveOwner(directory), process.pid);
  await assert.rejects(lockDataDirectory(directory, systemClock), /StartError: .* in use by process \d+;/);
  lock.release();
  (await lockDataDirectory(directory, systemClock)).release();
  assert.deepEqual(readdirSync(directory), []);
});

test('the lock of a process that is gone is taken over', async () => {
  writeLock({ pid: pidOfNobody, identity: 'anything' });
  await lockDataDirectory(directory, systemClock);
  assert.equal(findLiveOwner(directory), process.pid);
});

test('the lock of an earlier process with the same id as a running one is taken over', async () => {
  writeLock({ pid: process.pid, identity: 'an earlier boot:1' });
  await lockDataDirectory(directory, systemClock);
  assert.equal(findLiveOwner(directory), process.pid);
});

test('a lock file that a crash truncated is taken over', async () => {
  writeFileSync(join(directory, 'dalasi.lock'), '{"pid":');
  await lockDataDirectory(directory, systemClock);
  assert.equal(findLiveOwner(directory), process.pid);
});

test('releasing a lock that another process has taken over does nothing', async () => {
  const lock = await lockDataDirectory(directory, systemClock);
  writeLock({ pid: process.pid, identity: 'another' });
  lock.release();
  assert.deepEqual(readdirSync(directory), ['dalasi.lock']);
});

test('of several processes that find the same stale lock exactly one gets it', async () => {
  writeLock({ pid: pidOfNobody, identity: 'anything' });
  const contenders = [1, 2, 3, 4].map(startContender);
  try {
    const outcomes = await Promise.all(contenders.map((contender) => contender.outcome));
    assert.deepEqual(outcomes.toSorted(), ['got it', 'refused', 'refused', 'refused']);
  } finally {
    await Promise.all(contenders.map((contender) => contender.end()));
  }
});

function writeLock(owner: { pid: number; identity: string }): void {
  writeFileSync(join(directory, 'dalasi.lock'), JSON.stringify(owner));
}

function startContender() {
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { lockDataDirectory } from ${module('./data-directory-lock.ts')};
    import { systemClock } from ${module('../../kit/clock.ts')};
    process.stdin.resume();
    await lockDataDirectory(${JSON.stringify(directory)}, systemClock).then(
      () => console.log('got it'),
      () => console.log('refused'));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  return {
    outcome: once(child.stdout, 'data').then(([text]) => String(text).trim()),
    end: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
