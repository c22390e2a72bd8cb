import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const variable = 'TEST_SHARED_DIRECTORY';

/** The environment through which the test files of a run find their shared directory. */
export function shareDirectory(directory: string): Record<string, string> {
  return { [variable]: directory };
}

/**
 * A directory that the first test file of a run fills with `create`, for all of them to copy. Undefined where a test
 * file runs alone.
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
    // Another test file was faster; its copy is as good.
  }
  return directory;
}
