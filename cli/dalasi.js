#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { chooseNode, runInNode } from './launch.js';

// The machine's own Node may be one that cannot run TypeScript; npm brought one that can. Plain JavaScript up to here.
const node = chooseNode(process.version);
if (node === null) await import('./main.ts');
else await runInNode(node, [fileURLToPath(new URL('main.ts', import.meta.url)), ...process.argv.slice(2)]);
