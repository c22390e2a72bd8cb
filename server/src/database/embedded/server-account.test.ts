import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findClosedDirectory, isAllowed } from './server-account.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dalasi-account-'));
  chmodSync(root, 0o711);
  mkdirSync(join(root, 'closed', 'open'), { recursive: true });
  chmodSync(join(root, 'closed'), 0o700);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('the first directory that an account may not enter is named', () => {
  const stranger = { name: 'stranger', uid: 4_000_000, gid: 4_000_000 };
  assert.equal(findClosedDirectory(join(root, 'closed', 'open'), stranger), join(root, 'closed'));
  assert.equal(findClosedDirectory(root, stranger), undefined);
});

test('an owner has the rights of the owner, a member those of the group, anybody else those of others', () => {
  chmodSync(root, 0o750);
  const stats = statSync(root);
  assert(isAllowed(stats, { name: 'owner', uid: stats.uid, gid: 99_999 }, 0o7));
  assert(isAllowed(stats, { name: 'member', uid: 99_999, gid: stats.gid }, 0o5));
  assert(!isAllowed(stats, { name: 'member', uid: 99_999, gid: stats.gid }, 0o2));
  assert(!isAllowed(stats, { name: 'other', uid: 99_999, gid: 99_999 }, 0o1));
});
