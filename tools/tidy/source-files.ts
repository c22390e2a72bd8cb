import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from './finding.ts';

// In a worktree of git, .git is a file that says where the repository is.
const skipped = new Set(['node_modules', '.git', 'data', 'coverage', 'dist', '.tmp']);
const textFile = /[.](ts|tsx|js|mjs|css|html|sql|md|json|jsonc|yml|yaml|sh|svg|txt|toml)$|^([^.]+|[.][^.]+)$/;

/** Every text file of a tree, but not what is installed, built or written by a program. */
export function readSourceFiles(root: string): SourceFile[] {
  return listFiles(root, '').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function listFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (skipped.has(entry.name)) return [];
    if (entry.isDirectory()) return listFiles(root, path);
    return entry.isFile() && textFile.test(entry.name) && entry.name !== 'package-lock.json' ? [path] : [];
  });
}

/** The code of the service and of its command-line tool: no tests, and no data of tests. */
export function isServiceCode(path: string): boolean {
  return /^(server\/src|simulator|cli)\/.+[.]ts$/.test(path) && !isTest(path);
}

export function isTest(path: string): boolean {
  return /[.](test|corpus)[.]ts$/.test(path);
}

/** All SQL of a module's tables stands here. */
export function isQueriesFile(path: string): boolean {
  return /^(server\/src\/.+\/|simulator\/(.+\/)?)queries([.]ts$|\/)/.test(path);
}
