import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '../kit/clock.ts';
import { backupLimits, backupProblems, type BackupRun, type BackupState } from './runs.ts';

const now = new Date('2026-11-20T12:00:00Z');
const run = (kind: BackupRun['kind'], ageMs: number, problem: string | null = null): BackupRun => ({
  ...{ id: kind, kind, backup: 'b-1', finishedAt: addMs(now, -ageMs), seconds: 1n, lostSeconds: null, problem },
});
const textsOf = (state: Partial<BackupState>, isExpected = true): string[] =>
  backupProblems({ backup: undefined, drill: undefined, archiveFailedAt: null, ...state }, { now, isExpected }).map(
    ({ text }) => text,
  );
const { backupMs, drillMs } = backupLimits;

test('a backup and a drill are no problem up to their age limits, and each is one after it', () => {
  assert.deepEqual(textsOf({ backup: run('backup', backupMs), drill: run('drill', drillMs) }), []);
  assert.deepEqual(textsOf({ backup: run('backup', backupMs + 1), drill: run('drill', drillMs + 1) }), [
    'No backup was made since 2026-11-18T23:59:59.999Z',
    'No backup was tried since 2026-11-12T11:59:59.999Z',
  ]);
});

test('an installation with BACKUP_DIR and no backup yet is a problem, one without it is not', () => {
  assert.deepEqual(textsOf({}), ['No backup was made yet', 'No backup was tried yet']);
  assert.deepEqual(textsOf({}, false), []);
});

test('a failed drill and a log that is not archived are problems at once', () => {
  const state = { backup: run('backup', 0), drill: run('drill', 0, 'It is damaged.'), archiveFailedAt: now };
  assert.deepEqual(textsOf(state), [
    'The database’s log is not archived',
    'The last try of a backup failed: It is damaged.',
  ]);
});
