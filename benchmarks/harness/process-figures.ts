import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

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
  return secondsOf(statOf(pid), [11, 12]);
}

/** The same of a server that forks: with its processes, also those that have ended. */
export function familyProcessorSeconds(pid: number): number {
  if (!existsSync('/proc')) return Number.NaN;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => Number(stat?.[1]) === pid);
  return children.reduce((sum, stat) => sum + secondsOf(stat, [11, 12]), secondsOf(statOf(pid), [11, 12, 13, 14]));
}

/** The process that has started a process. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1]);
}

function secondsOf(stat: readonly string[] | undefined, fields: readonly number[]): number {
  return fields.reduce((sum, field) => sum + Number(stat?.[field]), 0) / ticksPerSecond;
}

/** What /proc says of a process, from its state on; undefined once it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    // The second field is the program's name, which may hold anything up to the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}
