/** What the process of a group of test files runs: each file as a suite of its name, with its own hooks. */
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) describe(file, () => import(pathToFileURL(file).href));
