import { systemClock } from '../../server/src/kit/clock.ts';

// A start takes a second on a machine of its own; beside three other test files it has taken twelve.
const patienceMs = 60_000;
const pollEveryMs = 10;
// What is long in coming is asked for less often: each look may be a request, and costs the processor what is waited for.
const pollShare = 0.1;

/** As `eventually`, with the patience that starting and stopping services takes on a busy machine. */
export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  while (!(await isSo())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > patienceMs) throw new Error(`it never came to this: ${what}`);
    await systemClock.sleep(Math.max(pollEveryMs, waitedMs * pollShare));
  }
}
