import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findBinaries, type InstalledPackage } from './binaries.ts';

const stranger = { name: 'stranger', uid: 4_000_000, gid: 4_000_000 };

let root: string;
let installed: InstalledPackage;
let dataDirectory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dalasi-binaries-'));
  chmodSync(root, 0o755);
  const native = join(root, 'checkout', 'package', 'native');
  for (const [path, mode] of [
    ['bin/postgres', 0o755],
    ['bin/initdb', 0o755],
    ['lib/libpq.so.5.18', 0o755],
    ['lib/libpq.a', 0o644],
    ['share/postgresql/postgres.bki', 0o644],
  ] as const) {
    mkdirSync(dirname(join(native, path)), { recursive: true });
    writeFileSync(join(native, path), path, { mode });
  }
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  installed = { native, version: '18.4.0-test' };
  dataDirectory = join(root, 'data');
  mkdirSync(dataDirectory, { mode: 0o711 });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('an install without scripts gets the links that its script would have created', async () => {
  const found = await findBinaries({ dataDirectory, account: undefined }, installed);
  assert.equal(found.postgres, join(installed.native, 'bin/postgres'));
  assert.equal(readlinkSync(join(installed.native, 'lib/libpq.so.5')), 'libpq.so.5.18');
  await findBinaries({ dataDirectory, account: undefined }, installed);
});

test('programs that the server account can reach are not copied', async () => {
  const found = await findBinaries({ dataDirectory, account: stranger }, installed);
  assert.equal(found.initdb, join(installed.native, 'bin/initdb'));
});

test('programs in a folder that the server account may not enter are copied once', async () => {
  chmodSync(join(root, 'checkout'), 0o700);
  const found = await findBinaries({ dataDirectory, account: stranger }, installed);
  const copy = join(dataDirectory, 'postgres-18.4.0-test');
  assert.equal(found.postgres, join(copy, 'bin/postgres'));
  assert.equal(statSync(copy).mode & 0o777, 0o755);
  assert.equal(statSync(found.postgres).mode & 0o777, 0o755);
  assert.deepEqual(readdirSync(join(copy, 'lib')), ['libpq.so.5', 'libpq.so.5.18']);

  const madeAt = statSync(copy).birthtimeMs;
  await findBinaries({ dataDirectory, account: stranger }, installed);
  assert.equal(statSync(copy).birthtimeMs, madeAt);
  assert.deepEqual(readdirSync(dataDirectory), ['postgres-18.4.0-test']);
});

test('programs installed under a narrow umask are copied with open permissions', async () => {
  chmodSync(join(installed.native, 'bin/postgres'), 0o700);
  const found = await findBinaries({ dataDirectory, account: stranger }, installed);
  assert.equal(statSync(found.postgres).mode & 0o777, 0o755);
});

test('a copy that others could have changed is not used', async () => {
  chmodSync(join(root, 'checkout'), 0o700);
  const copy = join(dataDirectory, 'postgres-18.4.0-test');
  mkdirSync(join(copy, 'bin'), { recursive: true });
  chmodSync(copy, 0o777);
  await assert.rejects(
    findBinaries({ dataDirectory, account: stranger, caches: [] }, installed),
    /StartError: The user stranger cannot run PostgreSQL's programs/,
  );
});
