import { spawn } from 'node:child_process';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..');
// Beyond the program's own duration: one that hangs must not block the benchmark.
const graceMs = 30_000;

// A young generation of 16 MiB was collected in up to 44 ms, which a program that measures latencies would count as the service's.
const shortPauses = '--max-semi-space-size=1';

/**
 * Runs one of the programs of benchmarks/ in its own process, so that the load and the service do not share a thread.
 * The options are JSON in the argument, the result is JSON in the output.
 */
export async function runProgram<Result>(
  file: string,
  options: { seconds: number },
  { measuresLatency = false }: { measuresLatency?: boolean } = {},
): Promise<Result> {
  const flags = measuresLatency ? [shortPauses] : [];
  const child = spawn(process.execPath, [...flags, join(folder, file), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: options.seconds * 1_000 + graceMs,
    killSignal: 'SIGKILL',
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  const exitCode = await ended;
  if (exitCode !== 0) throw new Error(`${file} ended with ${exitCode ?? 'a signal'}`);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Result;
}

/** The options of this program. */
export function programOptions<Options>(): Options {
  return JSON.parse(process.argv[2] ?? '{}') as Options;
}

/** Returns the result to the parent process. */
export function printResult(result: unknown): void {
  process.stdout.write(JSON.stringify(result));
}
