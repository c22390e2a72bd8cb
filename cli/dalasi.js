#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { chooseNode } from '../launch/choose-node.js';
import { runInNode } from '../launch/run-in-node.js';
import { stripInstalledTypes } from '../launch/strip-types.js';

// The installed Node may not run TypeScript; npm installed one that does. Up to here everything is plain JavaScript.
const node = chooseNode();
if (node === process.execPath) {
  stripInstalledTypes();
  await import('./main.ts');
} else {
  await runInNode(node, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}
