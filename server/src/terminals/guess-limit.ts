import { AppError } from '../kit/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { SharedAllowances } from '../kit/shared-allowance.ts';
import { findServiceArrival, takeServiceAllowance } from './queries.ts';

/**
 * Looks a counter up by what somebody typed; only what is not found counts. Throws AppError `rate_limited` without
 * looking, where too many codes were guessed wrong from this client address, or from everywhere together.
 */
export type GuessLimit = <Found>(
  clientAddress: string,
  lookUp: () => Promise<Found | undefined>,
) => Promise<Found | undefined>;

const limitName = 'counter_code_guesses';

// A moment in which many mistype, or the same poster is worn, passes unnoticed.
const burstSeconds = 20;
// Of 9,000,000 codes one address can try 12 a minute: all of them in 17 months. Thirty mistakes at once, because mobile
// networks put hundreds of payers behind one address.
const addressLimit = { rate: 0.2, burst: 30 };
// Nearly everything that is taken is given back, because nearly everybody types a code that exists. A process uses what came
// back for this long before it asks the database for more.
const leaseMs = 10_000;

/**
 * Codes that are found do not count, so that a market whose payers type theirs does not reach a limit by itself. `guessesPerSecond` is for
 * all processes together, and 0 is no limit; each process counts the guesses of an address for itself.
 */
export function createGuessLimit(db: Queryable, clock: Clock, guessesPerSecond: number): GuessLimit {
  if (guessesPerSecond === 0) return (_clientAddress, lookUp) => lookUp();
  const addressAllowances = new LocalAllowances(clock, addressLimit);
  const globalAllowances = new SharedAllowances(clock, { burstSeconds, leaseMs });
  const takeGlobal = () =>
    globalAllowances.take({
      key: limitName,
      rate: guessesPerSecond,
      take: (take) => takeServiceAllowance(db, limitName, take),
      findArrival: () => findServiceArrival(db, limitName),
    });
  return async (clientAddress, lookUp) => {
    const client = clientNetwork(clientAddress);
    const addressResult = addressAllowances.take(client);
    if ('retryAfterSeconds' in addressResult)
      throw tooManyGuesses(addressResult.retryAfterSeconds, 'from one client address');
    const globalResult = await takeGlobal();
    if ('retryAfterSeconds' in globalResult) {
      addressAllowances.giveBack(client);
      throw tooManyGuesses(globalResult.retryAfterSeconds, 'than RATE_LIMIT_CODES allows');
    }
    const found = await lookUp();
    if (found !== undefined) {
      addressAllowances.giveBack(client);
      globalAllowances.giveBack(limitName);
    }
    return found;
  };
}

function tooManyGuesses(retryAfterSeconds: number, internal: string): AppError {
  return new AppError(
    'rate_limited',
    'Too many counter codes were typed wrong. Scan the QR code, or try again later.',
    {
      retryAfterSeconds,
      internal: `more wrong codes of counters ${internal}`,
    },
  );
}
