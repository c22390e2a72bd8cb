import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLockfileFaults, type Lockfile } from './lockfile.ts';
import { findYoungPackages } from './young-packages.ts';

const repository = join(import.meta.dirname, '..');
const read = (file: string): unknown => JSON.parse(readFileSync(join(repository, file), 'utf8'));
const lockfile = read('package-lock.json') as Lockfile;
const manifest = read('package.json') as Record<string, Record<string, string>> & {
  allowScripts: Record<string, boolean>;
};

test('every package is of the registry, has its hash, and runs nothing at install but what is allowed', () => {
  assert.deepEqual(findLockfileFaults(lockfile, manifest.allowScripts), []);
});

test('every dependency is pinned to one version', () => {
  const fields = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const versions = fields.flatMap((field) => Object.entries(manifest[field] ?? {}));
  assert.ok(versions.length > 50);
  for (const [name, version] of versions) assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name);
});

const good = { version: '1.2.3', integrity: `sha512-${'A'.repeat(86)}==` };

for (const [fault, entry] of [
  ['comes from git+ssh://git@example.gm/pad.git#1', { ...good, resolved: 'git+ssh://git@example.gm/pad.git#1' }],
  ['comes from http://registry.npmjs.org/pad', { ...good, resolved: 'http://registry.npmjs.org/pad' }],
  ['is no version of the registry', { ...good, version: 'file:../pad' }],
  ['has no SHA-512 hash', { version: '1.2.3' }],
  ['has no SHA-512 hash', { version: '1.2.3', optional: true }],
  ['has no SHA-512 hash', { ...good, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
  ['runs a program when it is installed', { ...good, hasInstallScript: true }],
] as const) {
  test(`a package that ${fault} is found (${Object.keys(entry).join(', ')})`, () => {
    const packages = { '': {}, 'node_modules/a/node_modules/@b/pad': entry };
    assert.deepEqual(findLockfileFaults({ packages }, { pad: true }), [`@b/pad ${fault}`]);
  });
}

test('too many packages in production are found, and those of development do not count', () => {
  const names = Array.from({ length: 251 }, (_, index) => `node_modules/p${index}`);
  const of = (dev: boolean) => ({ packages: Object.fromEntries(names.map((name) => [name, { ...good, dev }])) });
  assert.deepEqual(findLockfileFaults(of(false), {}), ['251 packages run in production, more than 250']);
  assert.deepEqual(findLockfileFaults(of(true), {}), []);
});

test('a package that is new since the last release is refused while it is younger than a week', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const daysAgo = { old: 7, young: 6, changed: 0, unknown: Number.NaN };
  const of = (packages: Record<string, string>): Lockfile => ({
    packages: Object.fromEntries(
      Object.entries(packages).map(([name, version]) => [`node_modules/@a/${name}`, { version }]),
    ),
  });
  const found = findYoungPackages({
    before: of({ changed: '1.0.0', stays: '1.0.0' }),
    after: of({ changed: '1.0.1', stays: '1.0.0', old: '1.0.0', young: '2.0.0-rc.1', unknown: '1.0.0' }),
    publishedAt: (name) => new Date(now.getTime() - (daysAgo[name.slice(3) as keyof typeof daysAgo] ?? 0) * 86_400_000),
    now,
  });
  assert.deepEqual(found, [
    '@a/changed@1.0.1 is 0 days old',
    '@a/young@2.0.0-rc.1 is 6 days old',
    '@a/unknown@1.0.0: nobody knows when it was published',
  ]);
});
