const variable = 'TEST_SHARED_DIRECTORY';

/** The environment in which the test files of a run find the directory that they share. */
export function shareDirectory(directory: string): Record<string, string> {
  return { [variable]: directory };
}

/** Where the test files of one run leave what they make once for all of them; undefined when one runs by itself. */
export function sharedDirectoryOfRun(): string | undefined {
  return process.env[variable];
}
