import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The test files that a change can affect, and why. */
export interface Affected {
  files: string[];
  reason: string;
}

const sourceFiles = '{benchmarks,cli,examples,launch,server,simulator,test,tools}/**/*.{js,ts}';

// No test reads these.
const textsOnly = ['CHANGELOG.md', 'CONTRIBUTING.md'];

/**
 * The test files that import a file changed since the branch left `main`, committed or not, directly or through others.
 * A changed file that is no source file (a migration, a document, a package) can affect any test, so all are listed.
 */
export function listAffected(repository: string, testFiles: readonly string[]): Affected {
  const since = baseOf(repository);
  const changed = [
    ...git(repository, ['diff', '--name-only', '--no-renames', since]),
    ...git(repository, ['ls-files', '--others', '--exclude-standard']),
  ].filter((file) => !textsOnly.includes(file));
  const importers = readImporters(repository);
  const unknown = changed.filter((file) => !importers.has(file));
  if (unknown.length > 0) {
    return { files: [...testFiles], reason: `All of them: ${unknown.slice(0, 3).join(', ')} can touch any test.` };
  }
  const reached = new Set(changed);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  const files = testFiles.filter((file) => reached.has(file));
  return { files, reason: `${files.length} of ${testFiles.length}, reached from ${changed.length} changed files.` };
}

function baseOf(repository: string): string {
  for (const branch of ['main', 'origin/main']) {
    try {
      return git(repository, ['merge-base', branch, 'HEAD'])[0] ?? 'HEAD';
    } catch {
      // A clone of one branch has no main.
    }
  }
  return 'HEAD';
}

function git(repository: string, args: readonly string[]): string[] {
  const output = execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return output.split('\n').filter((line) => line !== '');
}

/** By source file, the files that import it, or name it as a program to start. */
function readImporters(repository: string): Map<string, string[]> {
  const files = globSync(sourceFiles, { cwd: repository });
  const importers = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const file of files) {
    for (const [, name = ''] of readFileSync(join(repository, file), 'utf8').matchAll(/'([^'\s]+\.(?:js|ts))'/g)) {
      for (const path of [join(dirname(file), name), normalize(name)]) importers.get(path)?.push(file);
    }
  }
  return importers;
}
