import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// Plain JavaScript: this is what a Node that is too old has to understand.

// The first that runs TypeScript without a flag and without a warning.
const versionMin = { major: 24, minor: 3 };
const runningNode = { version: process.version, path: process.execPath };

/**
 * The path of the Node to run with: the one that runs already when it is new enough, else the one that npm installed.
 *
 * npm 10 installs that one without linking it into `node_modules/.bin`, so it is looked for by its package.
 *
 * Where neither is there, it ends the process with code 1 and a sentence on standard error.
 *
 * @param {{ version: string, path: string }} running
 * @returns {string}
 */
export function chooseNode(running = runningNode) {
  if (isNewEnough(running.version)) return running.path;
  const installed = installedNode();
  if (installed !== undefined) return installed;
  const needed = `${versionMin.major}.${versionMin.minor}`;
  process.stderr.write(
    `Dalasi needs Node ${needed} or newer and this is ${running.version}: run npm ci, which installs one on Linux ` +
      `unless --omit=optional leaves it out, or install Node ${versionMin.major} yourself.\n`,
  );
  process.exit(1);
}

/** @param {string} version as `process.version` says it */
function isNewEnough(version) {
  const [major, minor] = version.slice(1).split('.').map(Number);
  return major > versionMin.major || (major === versionMin.major && minor >= versionMin.minor);
}

function installedNode() {
  const isWindows = process.platform === 'win32';
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  try {
    const description = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(description), 'bin', isWindows ? 'node.exe' : 'node');
  } catch {
    return undefined;
  }
}
