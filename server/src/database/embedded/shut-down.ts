import type { Clock } from '../../kit/clock.ts';

// A fast shutdown writes what is dirty in memory to the disk, at most 128 MB: seconds, unless the disk is in trouble.
const fastShutdownMs = 15_000;
const immediateShutdownMs = 6_000;

/**
 * Ends a PostgreSQL server: first a fast shutdown (open transactions are rolled back, everything is written), then an
 * immediate one and at last a kill, after both of which the next start recovers from the log. No committed row is lost
 * in any of them.
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
