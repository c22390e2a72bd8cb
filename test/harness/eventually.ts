import { systemClock } from '../../server/src/kit/clock.ts';

/** Long, because only a test that fails waits for it, and a busy machine must not make one fail. */
const giveUpAfterMs = 60_000;
const pollEveryMs = 5;
// What is long in coming is asked for less often: each look may be a request, and costs the processor what is waited for.
const pollShare = 0.1;

/** Waits for something that another process or socket brings about; fails with `what` when it does not come. */
export async function eventually(description: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > giveUpAfterMs) throw new Error(`it never came to this: ${description}`);
    await systemClock.sleep(Math.max(pollEveryMs, waitedMs * pollShare));
  }
}
