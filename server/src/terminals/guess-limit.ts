import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { SharedAllowances } from '../kit/shared-allowance.ts';
import { findServiceArrival, takeServiceAllowance } from './queries.ts';

/**
 * Runs a look-up by a typed code and counts it if nothing is found. Throws AppError `rate_limited`, without looking up, after
 * too many wrong codes from this client address or from all clients together.
 */
export type GuessLimit = <Found>(
  clientAddress: string,
  lookUp: () => Promise<Found | undefined>,
) => Promise<Found | undefined>;

const limitName = 'counter_code_guesses';

// Allows for a short burst of mistakes, for example at a worn poster.
const burstSeconds = 20;
// At 12 guesses a minute, one address needs 17 months for all 9,000,000 codes. The burst of 30 is for mobile networks, which
// put hundreds of payers behind one address.
const addressLimit = { rate: 0.2, burst: 30 };
// Nearly all takes are returned, because nearly all typed codes exist. A process reuses what was returned for this long before
// it takes more from the database.
const leaseMs = 10_000;

/**
 * Codes that exist do not count, so that a market where everyone types the code does not reach the limit. All processes share
 * `guessesPerSecond` (0 is no limit); the limit of a client address is per process.
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
    if ('retryAfterSeconds' in addressResult) {
      throw tooManyGuesses(addressResult.retryAfterSeconds, 'from one client address');
    }
    const globalResult = await takeGlobal();
    if ('retryAfterSeconds' in globalResult) {
      addressAllowances.restore(client);
      throw tooManyGuesses(globalResult.retryAfterSeconds, 'than RATE_LIMIT_CODES allows');
    }
    const found = await lookUp();
    if (found !== undefined) {
      addressAllowances.restore(client);
      globalAllowances.restore(limitName);
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
      internal: `more wrong counter codes ${internal}`,
    },
  );
}
