import type { Clock } from '../server/src/kit/clock.ts';

// Ctrl-C reaches us twice where a launcher above us passes it on; a person does not press that fast.
const duplicateWindowMs = 500;
// What the shell calls a program that SIGINT ended.
const interruptedExitCode = 130;

/**
 * Turns Ctrl-C into an abort, so that a command that runs on can end in order; the second one ends the program. Until
 * a command asks for it, signals do what they always do.
 */
export function createInterruption(clock: Clock): () => AbortSignal {
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
