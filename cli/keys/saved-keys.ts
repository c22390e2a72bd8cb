import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { writePrivateFile } from '../../server/src/database/embedded/data-directory.ts';
import { errorCode, reasonOf } from '../../server/src/kit/start-error.ts';
import { CommandFailure, type CommandContext } from '../command.ts';

export interface SavedKey {
  /** The address the key is sent to, unless --url or DALASI_URL names another. */
  url: string;
  key: string;
}

export interface SavedKeys {
  /** The name of the key in use. */
  current: string | null;
  keys: Map<string, SavedKey>;
}

type Environment = CommandContext['environment'];

/** `$XDG_CONFIG_HOME/dalasi/keys.json`, or below `~/.config`. */
export function savedKeysPath(environment: Environment): string {
  const { XDG_CONFIG_HOME, HOME } = environment;
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'dalasi', 'keys.json');
}

/** The saved keys; none without a file. Refuses a file that other users can read. Throws CommandFailure. */
export function readSavedKeys(environment: Environment): SavedKeys {
  const path = savedKeysPath(environment);
  try {
    const { mode } = statSync(path);
    // Windows has no such bits, and says that everybody may.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new CommandFailure(`Other users of this machine can read ${path}. Run: chmod 600 ${path}`);
    }
    const stored = JSON.parse(readFileSync(path, 'utf8')) as { current: string | null; keys: Record<string, SavedKey> };
    return { current: stored.current, keys: new Map(Object.entries(stored.keys)) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { current: null, keys: new Map() };
    if (error instanceof CommandFailure) throw error;
    const reason = error instanceof SyntaxError || error instanceof TypeError ? 'it is damaged' : reasonOf(error);
    throw new CommandFailure(`${path} cannot be used: ${reason}. Repair it or delete it.`);
  }
}

/** Complete or not at all, and readable by its owner only. */
export function writeSavedKeys(environment: Environment, { current, keys }: SavedKeys): void {
  const path = savedKeysPath(environment);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writePrivateFile(path, `${JSON.stringify({ current, keys: Object.fromEntries(keys) }, null, 2)}\n`);
  } catch (error) {
    throw new CommandFailure(`${path} cannot be written: ${reasonOf(error)}.`);
  }
}
