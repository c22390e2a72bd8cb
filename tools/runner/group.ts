/**
 * The program of a group of test files: runs each file as a suite of its name, with its own hooks, one after the other.
 * Arguments: how long the process may live after the tests, in milliseconds, and the files.
 */
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';

const [lingerMs, ...files] = process.argv.slice(2);
for (const file of files) describe(file, () => import(pathToFileURL(file).href));

after(() => {
  // Fires only while something keeps the process alive.
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
    process.stderr.write(`The tests have ended, but this was left open: ${open.join(', ')}.\n`);
    process.exit(1);
  }, Number(lingerMs)).unref();
});
