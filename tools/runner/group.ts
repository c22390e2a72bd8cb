/**
 * The program of a process of test files: takes files from a queue and runs each as a suite of its name, with its own hooks, one
 * after the other. Arguments: how long the process may live after the tests, in milliseconds, and the directory of the queue.
 */
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FileQueue } from './file-queue.ts';
import { OpenResources } from './open-resources.ts';
import { ProcessorMeter } from './processor-times.ts';

const [lingerMs, directory = ''] = process.argv.slice(2);
const resources = new OpenResources();
const meter = new ProcessorMeter(directory);

for (const file of FileQueue.open(directory).take()) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  describe(file, async () => {
    try {
      await import(pathToFileURL(file).href);
    } finally {
      // The last of its hooks.
      after(() => end());
    }
  });
  await ended;
  meter.note(file);
  resources.note(file);
}

after(() => {
  // Fires only while something keeps the process alive.
  setTimeout(() => {
    process.stderr.write(`The tests have ended, but this was left open: ${resources.describe()}.\n`);
    process.exit(1);
  }, Number(lingerMs)).unref();
});
