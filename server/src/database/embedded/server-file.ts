import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of a running server's `postmaster.pid`; a killed server leaves the file behind. */
export interface ServerFile {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping` or `standby`; empty while the file is still being written. */
  status: string;
}

/** undefined when there is no such file, or it is not complete enough to name a process. */
export function readServerFile(clusterDirectory: string): ServerFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(serverFilePath(clusterDirectory), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
}

export function serverFilePath(clusterDirectory: string): string {
  return join(clusterDirectory, 'postmaster.pid');
}
