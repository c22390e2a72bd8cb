import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes a running process from a later one with the same id: undefined when there is none (a zombie does not count), else
 * a text that stays the same while it runs. On Windows only the id itself is known.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform === 'linux') return linuxIdentity(pid);
  if (!isRunning(pid)) return undefined;
  return process.platform === 'win32' ? 'running' : startTimeByPs(pid);
}

// The start time counts clock ticks since boot. In a container the ids repeat at every start, so after a reboot both together
// could repeat too: hence the boot id.
function linuxIdentity(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command's name is in parentheses and may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTimeTicks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X') return undefined;
  return `${readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${startTimeTicks ?? ''}`;
}

function startTimeByPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = '', ...started] = text.split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, under an account that this process may not signal.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
