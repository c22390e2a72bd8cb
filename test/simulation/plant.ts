import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlantedBug } from './planted-bugs.ts';

const repository = join(import.meta.dirname, '../..');

/** Plants the bug in a copy of the service, and runs seeds until the simulation finds it: what it found, or null. */
export async function findPlanted(bug: PlantedBug, seedsMax: number): Promise<string | null> {
  const copy = plant(bug);
  try {
    return await firstFinding(copy, seedsMax);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function plant({ name, file, from, to }: PlantedBug): string {
  const copy = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const folder of ['server', 'simulator', 'test', 'docs', 'package.json'])
    cpSync(join(repository, folder), join(copy, folder), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  const text = readFileSync(join(copy, file), 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${name}: its place in ${file} is gone; plant it elsewhere`);
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  );
  return copy;
}

/** The first line that tells of a violation. */
async function firstFinding(copy: string, seedsMax: number): Promise<string | null> {
  const program = join(copy, 'test/simulation/simulate.ts');
  const simulation = spawn(process.execPath, [program, '1', String(seedsMax)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => simulation.once('exit', resolve));
  let found: string | null = null;
  let printed = '';
  for await (const chunk of simulation.stdout) {
    printed += String(chunk);
    const line = printed.split('\n').find((one) => one.startsWith('seed ') && !one.endsWith(': kept'));
    if (line !== undefined && printed.includes(`${line}\n`)) {
      found = line;
      break;
    }
  }
  simulation.kill();
  await ended;
  return found;
}
