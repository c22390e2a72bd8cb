import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoFacts } from '../../server/src/process/demo.ts';
import { eventually } from './eventually.ts';

/** A program of ours that was started: in a process of its own, or in the test's. */
export interface Program {
  stdout(): string;
  stderr(): string;
  /** Resolves with what the pattern found in what was printed; fails when the program ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Tells it to stop, as SIGTERM does. */
  stop(): void;
  /** Resolves when it has ended and all it wrote has arrived. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** What a program has written so far, which grows, and when it has ended. */
interface Output {
  written: { stdout: string; stderr: string };
  ended: Program['ended'];
}

/** The part of a program that follows from what it writes. */
export function watchOutput({ written, ended }: Output): Omit<Program, 'stop'> {
  let hasEnded = false;
  const watched = ended.finally(() => {
    hasEnded = true;
  });
  watched.catch(() => {});
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    ended: watched,
    async printed(pattern) {
      let found: RegExpExecArray | null = null;
      await eventually(`${pattern} is printed`, () => {
        // Asked first: what is written before the end has arrived when the end is known.
        const isOver = hasEnded;
        found = pattern.exec(written.stdout);
        if (found || !isOver) return found !== null;
        throw new Error(`it ended without printing ${pattern}:\n${written.stdout}\n${written.stderr}`);
      });
      return found ?? assert.fail();
    },
  };
}

/** The address that a service printed when it was ready. */
export async function readyAt(service: Program): Promise<string> {
  const [, url = ''] = await service.printed(/^Dalasi is ready at (\S+)/m);
  return url;
}

/** What is in demo.json: where the service is, and the demo merchant's keys. */
export function readDemo(dataDirectory: string): DemoFacts {
  return JSON.parse(readFileSync(join(dataDirectory, 'demo.json'), 'utf8')) as DemoFacts;
}

// What is waited for in vain ends with the service's last resort, after 25 s. A busy machine may need all but some of them.
const stopMaxMs = 20_000;

/** A service that was told to stop ends with 0 and without a word of trouble, and takes its PostgreSQL along. */
export async function assertStopsCleanly({
  service,
  dataDirectory,
}: {
  service: Program;
  dataDirectory: string;
}): Promise<void> {
  const startedMs = performance.now();
  const { code, signal } = await service.ended;
  assert.deepEqual({ code, signal, stderr: service.stderr() }, { code: 0, signal: null, stderr: '' });
  assert(performance.now() - startedMs < stopMaxMs, 'nothing was waited for in vain');
  assert.match(service.stdout(), /\nStopped\.\n$/);
  assert.deepEqual(processesIn(dataDirectory), [], 'PostgreSQL is gone');
  assert(!existsSync(join(dataDirectory, 'dalasi.lock')), 'the data directory is free');
  assert(!existsSync(join(dataDirectory, 'postgres/postmaster.pid')), 'the database was shut down');
}

/** The processes whose working directory is below this one: a database server's all are, and its initdb's. */
export function processesIn(directory: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => workingDirectoryOf(pid)?.startsWith(directory) ?? false);
}

function workingDirectoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile, or is another user's, which ours are not.
    return undefined;
  }
}
