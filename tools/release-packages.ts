/**
 * Judges the packages of a release, and writes its bill of materials:
 *
 *     node tools/release-packages.ts <the last release's commit> <file.cdx.json>
 *
 * Fails if one that runs in production is known to be vulnerable (high or critical), if the registry did not sign one, or if one that
 * is new since the last release is younger than a week: most hijacked packages are found and removed in hours.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../server/src/kit/clock.ts';
import { findYoungPackages } from './young-packages.ts';
import type { Lockfile } from './lockfile.ts';

const repository = join(import.meta.dirname, '..');
const [since, billPath] = process.argv.slice(2);
if (since === undefined || billPath === undefined) {
  console.error('Name the commit of the last release, and a file for the bill of materials.');
  process.exit(2);
}

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

writeFileSync(billPath, run('npm', ['sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx']));
console.log(`${billPath}: what runs in production`);
console.log(run('npm', ['audit', '--omit', 'dev', '--audit-level', 'high']));
console.log(run('npm', ['audit', 'signatures']));
const before = JSON.parse(run('git', ['show', `${since}:package-lock.json`])) as Lockfile;
const after = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as Lockfile;
const publishedAt = (name: string, version: string): Date => {
  const times = JSON.parse(run('npm', ['view', name, 'time', '--json'])) as Record<string, string>;
  return new Date(times[version] ?? Number.NaN);
};
const young = findYoungPackages({ before, after, publishedAt, now: systemClock.now() });
for (const text of young) console.error(text);
if (young.length > 0) process.exit(1);
