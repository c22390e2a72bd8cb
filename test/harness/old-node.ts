import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a program `node` that claims to be Node 20 and runs no TypeScript, and returns its folder for the front of
 * PATH: a machine whose npm links no other Node.
 */
export function makeOldNode(parent: string): string {
  const folder = join(parent, 'old-node');
  mkdirSync(folder);
  // It hides its own options too, which the Node that replaces it would inherit.
  const pretend = `
    Object.defineProperty(process, 'version', { value: 'v20.20.2' });
    process.execArgv = [];
    if (/[.]ts$/.test(process.argv[1] ?? '')) throw new TypeError('Unknown file extension ".ts"');`;
  writeFileSync(join(folder, 'pretend.mjs'), pretend);
  writeFileSync(join(folder, 'node'), `#!/bin/sh\nexec '${process.execPath}' --import '${folder}/pretend.mjs' "$@"\n`);
  chmodSync(join(folder, 'node'), 0o755);
  return folder;
}
