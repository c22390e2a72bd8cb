import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The first that runs TypeScript without a flag and without a warning.
const majorMin = 24;
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * The Node to run with: null for the one that runs already, when it is new enough.
 *
 * @param {string} version as `process.version` says it
 * @returns {string | null}
 */
export function chooseNode(version) {
  if (Number(version.slice(1).split('.')[0]) >= majorMin) return null;
  const installed = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (existsSync(installed)) return installed;
  process.stderr.write(
    `dalasi needs Node ${majorMin}, and this is ${version}. Run npm ci first, or install Node ${majorMin}.\n`,
  );
  process.exit(1);
}

/**
 * Runs another Node in this one's place: it gets the terminal, the input and the signals, and its end is our end.
 *
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<void>}
 */
export async function runInNode(node, args) {
  const child = spawn(node, args, { stdio: 'inherit' });
  for (const name of passedOn) process.on(name, () => child.kill(name));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (...end) => resolve(end));
  });
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  // Who waits for us learns how it ended from the signal that ends us, too.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
