import { AppError } from '../../api/app-error.ts';
import { clientNetwork } from '../../kit/client-address.ts';

/** A person's windows on several devices. Hidden pages close their streams. */
const perLogin = 8;
/** A third of a process's: a shop's staff share an address, a mobile network's customers too, and none of them takes all. */
const perAddress = 100;
const inProcess = 300;

const retryAfterSeconds = 30;

interface Listener {
  accountId: string;
  address: string;
}

/** How many event streams may be open at once in this process: of a login, from an address, and in all. */
export class StreamLimits {
  readonly inProcess = inProcess;
  readonly #open = new Set<Listener>();

  /** Returns the function that makes room again. Throws AppError `rate_limited`, or `unavailable` where the process has too many. */
  take({ accountId, address }: Listener): () => void {
    const listener = { accountId, address: clientNetwork(address) };
    const others = [...this.#open];
    if (others.filter((other) => other.accountId === accountId).length >= perLogin) {
      throw tooMany(`You have ${perLogin} live pages open. Close one of them.`);
    }
    if (others.filter((other) => other.address === listener.address).length >= perAddress) {
      throw tooMany('Too many live pages are open at your address. Close one of them.');
    }
    if (others.length >= inProcess) {
      throw new AppError('unavailable', 'Too many live pages are open. Try again soon.', { retryAfterSeconds });
    }
    this.#open.add(listener);
    return () => this.#open.delete(listener);
  }
}

function tooMany(message: string): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds });
}
