import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const variable = 'TEST_SHARED_DIRECTORY';

/** The environment in which the test files of a run find the directory that they share. */
export function shareDirectory(directory: string): Record<string, string> {
  return { [variable]: directory };
}

/**
 * A directory with what `make` puts into it, made by the first test file of a run that asks, for all of them to copy.
 * Undefined where a test file runs by itself.
 */
export async function createOncePerRun(
  name: string,
  create: (directory: string) => Promise<void>,
): Promise<string | undefined> {
  const parent = process.env[variable];
  if (parent === undefined) return undefined;
  const directory = join(parent, name);
  if (existsSync(directory)) return directory;
  const draft = mkdtempSync(join(parent, `${name}-`));
  await create(draft);
  try {
    renameSync(draft, directory);
  } catch {
    // Another file was faster, and what it has made is as good.
  }
  return directory;
}
