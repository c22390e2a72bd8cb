import type { Clock } from '../kit/clock.ts';
import { errorCode, StartError } from '../kit/start-error.ts';

// "The database system is starting up", also while it recovers or shuts down.
const cannotConnectNow = '57P03';
const pollMs = 500;
// Half a minute. Looks are counted because a machine that has just got its power back may still put its clock right.
const attemptsMax = 60;

/**
 * Does `prepare`, and again every half second while the database says that it is still starting: after a power cut it comes up
 * together with us. Only that is waited for; a database that is not there at all is said to be so at once, and whoever
 * supervises the process starts it again. `prepare` has to bear being repeated.
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
