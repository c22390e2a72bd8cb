import { spawn } from 'node:child_process';

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

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
