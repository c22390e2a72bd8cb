#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { chooseNode } from '../launch/choose-node.js';
import { runInNode } from '../launch/run-in-node.js';
import { stripInstalledTypes } from '../launch/strip-types.js';

// The machine's own Node may be one that cannot run TypeScript; npm brought one that can. Plain JavaScript up to here.
const node = chooseNode();
if (node === process.execPath) {
  stripInstalledTypes();
  await import('./main.ts');
} else {
  await runInNode(node, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}
