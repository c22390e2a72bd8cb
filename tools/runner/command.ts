import { spawn } from 'node:child_process';

export interface CommandResult {
  isOk: boolean;
  /** What it wrote to both of its outputs, in the order it came. */
  output: string;
  durationMs: number;
}

/** Runs a program of Node in a folder; one that cannot be started has failed and says why. */
export function runNode(args: readonly string[], cwd: string): Promise<CommandResult> {
  const startedMs = performance.now();
  // Node's test runner marks the processes it starts, and refuses to run in one of them: this is a new beginning.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
