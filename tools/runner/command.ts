import { spawn } from 'node:child_process';

export interface CommandResult {
  isOk: boolean;
  /** Both of its outputs, in order. */
  output: string;
  durationMs: number;
}

/** Runs Node in a folder, with these settings beside the own environment; a failure to start is a failed result with the reason. */
export function runNode(
  args: readonly string[],
  cwd: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const startedMs = performance.now();
  // Node's test runner refuses to run in processes that it has marked with this.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd, env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    const end = (isOk: boolean) => resolve({ isOk, output, durationMs: performance.now() - startedMs });
    child.on('close', (code) => end(code === 0));
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
  });
}
