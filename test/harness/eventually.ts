import { systemClock } from '../../server/src/kit/clock.ts';

/** Long, because only a test that fails waits for it, and a busy machine must not make one fail. */
const giveUpAfterMs = 60_000;
const pollEveryMs = 5;

/** Waits for something that another process or socket brings about; fails with `what` when it does not come. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = systemClock.now().getTime() + giveUpAfterMs;
  while (!(await isSo())) {
    if (systemClock.now().getTime() > giveUpAt) throw new Error(`it never came to this: ${what}`);
    await systemClock.sleep(pollEveryMs);
  }
}
