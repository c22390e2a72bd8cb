import { systemClock, type Clock } from '../server/src/kit/clock.ts';
import { runCli } from './run-cli.ts';

// A launcher may pass Ctrl-C on, so that it arrives twice; a person does not press that fast.
const duplicateWindowMs = 500;
// The shell's exit code of a program that SIGINT has ended.
const interruptedExitCode = 130;

// A reader such as `head` may close the pipe early; that is no error, and hides none.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  streams: process,
  interruption: createInterruption(systemClock),
});

/**
 * Turns Ctrl-C into an abort, so that a long command can shut down; the second Ctrl-C ends the program. Until a command
 * calls the result, signals have their usual effect.
 */
function createInterruption(clock: Clock): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (controller) return controller.signal;
    const newController = new AbortController();
    let abortedAtMs = 0;
    const interrupt = (): void => {
      const nowMs = clock.now().getTime();
      if (newController.signal.aborted && nowMs - abortedAtMs > duplicateWindowMs) process.exit(interruptedExitCode);
      if (!newController.signal.aborted) abortedAtMs = nowMs;
      newController.abort();
    };
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
    controller = newController;
    return newController.signal;
  };
}
