import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import type { Log } from '../kit/log.ts';

// What proves nothing and is about nothing of ours changes nothing, so a network loses nothing by it: one whose secret was changed
// sees sixty refusals before it is slowed down, and repeats what was refused.
const perAddress = { rate: 1, burst: 60 };
// Of all addresses together: a flood from many must not fill the disk. The metrics count what the log leaves out.
const logLines = { rate: 0.2, burst: 30 };

export interface Refusal {
  reason: string;
  /** The rail account or chat channel that it names. */
  source: string;
  isKnown: boolean;
}

/**
 * Limits what arrives for networks and chat channels and proves nothing, for each client address and account or channel: forged
 * callbacks and messages, and hints about references that do not exist. What proves itself, or is about something of ours, never
 * counts.
 */
export class UnverifiedLimit {
  readonly #log: Log;
  readonly #addresses: LocalAllowances;
  readonly #lines: LocalAllowances;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#log = log;
    this.#addresses = new LocalAllowances(clock, perAddress);
    this.#lines = new LocalAllowances(clock, logLines);
  }

  /** Counts and logs one. Throws AppError `rate_limited`, and logs nothing, for an address that has sent too many. */
  count(what: string, request: { ip: string; id: string }, { reason, source, isKnown }: Refusal): void {
    // Whoever invents accounts has one limit for all of them.
    const network = isKnown ? source : '';
    const result = this.#addresses.take(`${clientNetwork(request.ip)} ${network}`);
    if ('retryAfterSeconds' in result) {
      const { retryAfterSeconds } = result;
      const message = `Too many ${what}s that prove nothing came from your address. Wait ${retryAfterSeconds} s.`;
      throw new AppError('rate_limited', message, { retryAfterSeconds });
    }
    if ('left' in this.#lines.take('')) {
      this.#log.warn(`a ${what} was refused`, { network, reason, request_id: request.id });
    }
  }
}
