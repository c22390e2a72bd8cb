import type { Clock } from '../../kit/clock.ts';

// A fast shutdown writes dirty buffers, at most 128 MB: seconds on a healthy disk.
const fastShutdownMs = 15_000;
const immediateShutdownMs = 6_000;

/**
 * Stops a PostgreSQL server: by a fast shutdown (open transactions are rolled back, all buffers are written), then an immediate one,
 * and finally a kill; after the last two the next start recovers from the log. No committed row is lost.
 */
export async function shutDown(options: { signal: (name: NodeJS.Signals) => void; gone: Promise<void>; clock: Clock }) {
  const { signal, gone, clock } = options;
  let isGone = false;
  const ended = gone.then(() => {
    isGone = true;
  });
  const steps = [
    ['SIGINT', fastShutdownMs],
    ['SIGQUIT', immediateShutdownMs],
  ] as const;
  for (const [name, timeoutMs] of steps) {
    signal(name);
    const finished = new AbortController();
    await Promise.race([ended, clock.sleep(timeoutMs, finished.signal)]);
    finished.abort();
    if (isGone) return;
  }
  signal('SIGKILL');
  await ended;
}
