import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readyAt, type Program } from './program.ts';
import type { ProcessWorld } from './process.ts';

/** Runs the curl line that a service printed, in a shell, and returns the payment. */
export async function runPrintedCurl(
  world: ProcessWorld,
  service: Program,
): Promise<{ payment_intent_id: string; payment_link: string; amount: number }> {
  await readyAt(service);
  const [, line = ''] = await service.printed(/^ +(curl .*)$/m);
  const shell = world.start(['sh', '-c', line], { PATH: `${makeCurl(world)}:${process.env['PATH'] ?? ''}` });
  const { code } = await shell.ended;
  if (code !== 0) throw new Error(`the printed line failed: ${shell.stderr()}`);
  return JSON.parse(shell.stdout()) as Awaited<ReturnType<typeof runPrintedCurl>>;
}

/** The part of curl that the printed line needs, for machines without it: `-s`, `-H`, `-d` and an address. */
function makeCurl(world: ProcessWorld): string {
  const folder = mkdtempSync(join(dirname(world.newDataDirectory()), 'bin-'));
  const script = `#!${process.execPath}
const [address, headers] = ['', {}];
const request = { headers, body: undefined, address };
for (const words = process.argv.slice(2); words.length > 0; ) {
  const word = words.shift();
  if (word === '-s') continue;
  else if (word === '-H') { const [name, value] = words.shift().split(': '); headers[name] = value; }
  else if (word === '-d') request.body = words.shift();
  else if (word.startsWith('-') || request.address) throw new Error('unexpected ' + word);
  else request.address = word;
}
fetch(request.address, { method: request.body ? 'POST' : 'GET', ...request })
  .then((response) => response.text())
  .then((text) => process.stdout.write(text));
`;
  writeFileSync(join(folder, 'curl'), script);
  chmodSync(join(folder, 'curl'), 0o755);
  return folder;
}
