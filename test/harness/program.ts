import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoFacts } from '../../server/src/process/demo.ts';
import { assertNoSecret } from './searched-output.ts';
import { eventually } from './eventually.ts';

/** A running program of ours, in its own process or in the test's. */
export interface Program {
  stdout(): string;
  stderr(): string;
  /** Resolves with the match once standard output has it; fails when the program ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Stops it, as SIGTERM does. */
  stop(): void;
  /** Resolves when it has ended and all its output has arrived. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A program's output so far, which grows, and its end. */
interface Output {
  written: { stdout: string; stderr: string };
  ended: Program['ended'];
}

/** The part of a program that follows from its output. */
export function watchOutput({ written, ended }: Output): Omit<Program, 'stop'> {
  let hasEnded = false;
  const watched = ended
    .finally(() => {
      hasEnded = true;
    })
    .then((end) => {
      assertNoSecret(written.stderr, 'standard error', { withNumbers: true });
      return end;
    });
  watched.catch(() => {});
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    ended: watched,
    async printed(pattern) {
      let found: RegExpExecArray | null = null;
      await eventually(`${pattern} is printed`, () => {
        // Read first: all output has arrived once the end is known.
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

/** The content of demo.json: the service's address and the demo merchant's keys. */
export function readDemo(dataDirectory: string): DemoFacts {
  return JSON.parse(readFileSync(join(dataDirectory, 'demo.json'), 'utf8')) as DemoFacts;
}

// A service that waits in vain is ended by its last resort after 25 s. A busy machine may need most of that.
const stopMaxMs = 20_000;

/** Checks that a stopped service exits with 0 without an error, and that its PostgreSQL has stopped. */
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
  assert(performance.now() - startedMs < stopMaxMs, 'it stopped without waiting in vain');
  assert.match(service.stdout(), /\nStopped\.\n$/);
  assert.deepEqual(processesIn(dataDirectory), [], 'PostgreSQL has stopped');
  assert(!existsSync(join(dataDirectory, 'dalasi.lock')), 'the data directory is free');
  assert(!existsSync(join(dataDirectory, 'postgres/postmaster.pid')), 'the database was shut down');
}

/** The processes whose working directory is below this one: those of a database server and of its initdb. */
export function processesIn(directory: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => workingDirectoryOf(pid)?.startsWith(directory) ?? false);
}

function workingDirectoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile, or is another user's, so not ours.
    return undefined;
  }
}
