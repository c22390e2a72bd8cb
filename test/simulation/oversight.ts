import type { Choices } from './choices.ts';
import { isLed, type ConsoleOperators } from './console-operators.ts';
import type { MerchantClient } from './merchant-client.ts';
import { ownAccountName } from './own-account.ts';
import type { VirtualClock } from './virtual-clock.ts';

// Every process knows within three seconds that a business is suspended; this leaves room for a slow query.
const knownWithinMs = 6_000;
const triesMax = 20;
const pauseMs = 31_000;

export interface OversightOptions {
  consoleOperators: ConsoleOperators;
  clock: VirtualClock;
  /** The merchant that is looked after, and its business. */
  client: MerchantClient;
  businessId: string;
  note: (text: string) => void;
}

/** Two operators who look after a business at the pages of the console: both at once, now and then. */
export class Oversight {
  readonly #options: OversightOptions;
  // Of one suspension at a time it is known when it is lifted.
  #isSuspending = false;
  #isPausing = false;
  #probes = 0;

  constructor(options: OversightOptions) {
    this.#options = options;
  }

  /** For some seconds, in which the business begins nothing. */
  async suspend(choices: Choices): Promise<void> {
    if (this.#isSuspending) return;
    this.#isSuspending = true;
    const { consoleOperators, clock, client, businessId } = this.#options;
    const path = `/operator/businesses/${businessId}`;
    const sent = await consoleOperators.atOnce(choices, `${path}/suspend`, { reason: 'The network has asked.' });
    if (sent.some(isLed)) {
      await clock.ofMachine().sleep(knownWithinMs);
      const data = { amount: 70, network: 'wave', account_number: '7010001' };
      const payee = { ...data, amount: 7, beneficiary_name: 'Awa Ceesay' };
      for (const [to, body] of [
        ['payments', { data }],
        ['transfers', payee],
      ] as const) {
        const { status, text } = await client.send('POST', `/v1/${to}`, body, `key ${to} ${(this.#probes += 1)}`);
        if (status !== 409) throw new Error(`a suspended business is answered with ${status} ${text}`);
      }
    }
    // Also where no page said that it is suspended.
    for (let tries = 0; tries < triesMax && (await this.#isSuspended()); tries += 1) {
      await consoleOperators.atOnce(choices, `${path}/lift`, {});
      if (await this.#isSuspended()) await clock.ofMachine().sleep(pauseMs);
    }
    this.#isSuspending = false;
  }

  /** For some seconds, in which the account takes no payment and no payout, and finishes what it has begun. */
  async pauseAccount(choices: Choices): Promise<void> {
    if (this.#isPausing) return;
    this.#isPausing = true;
    const { consoleOperators, clock } = this.#options;
    const path = `/operator/rail-accounts/${ownAccountName}`;
    await consoleOperators.atOnce(choices, `${path}/disable`, {});
    await clock.ofMachine().sleep(pauseMs);
    await consoleOperators.atOnce(choices, `${path}/enable`, {});
    this.#isPausing = false;
  }

  async #isSuspended(): Promise<boolean> {
    const { consoleOperators, businessId } = this.#options;
    // Whoever's session has ended sees nothing.
    const path = `/operator/businesses/${businessId}`;
    const pages = [await consoleOperators.open(0, path), await consoleOperators.open(1, path)];
    return pages.some(({ text }) => text.includes(`/businesses/${businessId}/lift"`));
  }
}
