import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

// Linux's unit of process time, on every machine that Node runs on.
const ticksPerSecond = 100;

/** The resident memory of a process, shared pages included. */
export function residentMib(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kibibytes) / 1_024;
}

/** The processor time of a process so far; NaN where the system does not report it. */
export function processorSeconds(pid: number): number {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return Number.NaN;
  // The second field is the program's name, which may hold anything up to the last parenthesis.
  const fields = readFileSync(stat, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
