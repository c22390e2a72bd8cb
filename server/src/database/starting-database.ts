import type { Clock } from '../kit/clock.ts';
import { errorCode, StartError } from '../kit/start-error.ts';

// "The database system is starting up", also during recovery and shutdown.
const cannotConnectNow = '57P03';
const pollMs = 500;
// Half a minute. Attempts are counted, because a machine that has just booted may still correct its clock.
const attemptsMax = 60;

/**
 * Runs `prepare`, and repeats it every half second while the database reports that it is still starting, as it does when both
 * start after a power cut. A database that cannot be reached fails at once; the process's supervisor restarts it. `prepare` must
 * be repeatable.
 */
export async function whenDatabaseHasStarted<Result>(
  { clock, logStartup }: { clock: Clock; logStartup: (sentence: string) => void },
  prepare: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await prepare();
    } catch (error) {
      if (attempt === attemptsMax || !isStarting(error)) throw error;
      if (attempt === 0) logStartup('The database is still starting; waiting for it, up to 30 seconds.');
      await clock.sleep(pollMs);
    }
  }
}

function isStarting(error: unknown): boolean {
  return error instanceof StartError && errorCode(error.cause) === cannotConnectNow;
}
