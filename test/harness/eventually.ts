import { systemClock } from '../../server/src/kit/clock.ts';

/** Only a failing test waits this long; a busy machine must not make one fail. */
const usualGiveUpMs = 60_000;
const pollEveryMs = 5;
// The longer it takes, the less often it looks: each look may be a request that slows what it waits for.
const pollShare = 0.1;

/** Waits until the condition holds, for what another process or socket does; fails with the description. */
export async function eventually(
  description: string,
  condition: () => boolean | Promise<boolean>,
  giveUpAfterMs: number = usualGiveUpMs,
): Promise<void> {
  const startedMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > giveUpAfterMs)
      throw new Error(`this did not happen within ${giveUpAfterMs / 1_000} s: ${description}`);
    await systemClock.sleep(Math.max(pollEveryMs, waitedMs * pollShare));
  }
}
