import type { Sent } from './browser.ts';
import type { Choices } from './choices.ts';
import type { ConsoleOperators } from './console-operators.ts';
import type { MerchantClient } from './merchant-client.ts';
import { ownAccountName } from './own-account.ts';
import type { VirtualClock } from './virtual-clock.ts';

// Every process knows within three seconds that a business is suspended; this leaves room for a slow query.
const knownWithinMs = 6_000;
const triesMax = 20;
const pauseMs = 31_000;
const largestDalasi = [40, 90, 150, 300] as const;

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
    const { clock, client, businessId } = this.#options;
    const path = `/operator/businesses/${businessId}`;
    const sent = await this.#atOnce(choices, `${path}/suspend`, { reason: 'The network has asked.' });
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
      await this.#atOnce(choices, `${path}/lift`, {});
      if (await this.#isSuspended()) await clock.ofMachine().sleep(pauseMs);
    }
    this.#isSuspending = false;
  }

  /** Both agree other limits, often at once: whoever was shown what no longer holds changes nothing. */
  async setLimits(choices: Choices): Promise<void> {
    const path = `/operator/businesses/${this.#options.businessId}/limits?environment=test`;
    const typed = () => ({ largest: String(choices.pick(largestDalasi) + choices.below(30)), daily: 'none' });
    const { consoleOperators } = this.#options;
    const [one, other] = [typed(), typed()];
    await Promise.all([
      consoleOperators.openAndPress(0, path, one),
      choices.below(3) > 0 ? consoleOperators.openAndPress(1, path, other) : undefined,
    ]);
  }

  /** For some seconds, in which the account takes no payment and no payout, and finishes what it has begun. */
  async pauseAccount(choices: Choices): Promise<void> {
    if (this.#isPausing) return;
    this.#isPausing = true;
    const path = `/operator/rail-accounts/${ownAccountName}`;
    await this.#atOnce(choices, `${path}/disable`, {});
    await this.#options.clock.ofMachine().sleep(pauseMs);
    await this.#atOnce(choices, `${path}/enable`, {});
    this.#isPausing = false;
  }

  async #isSuspended(): Promise<boolean> {
    const { consoleOperators, businessId } = this.#options;
    // Whoever's session has ended sees nothing.
    const path = `/operator/businesses/${businessId}`;
    const pages = [await consoleOperators.open(0, path), await consoleOperators.open(1, path)];
    return pages.some(({ text }) => text.includes(`/businesses/${businessId}/lift"`));
  }

  async #atOnce(
    choices: Choices,
    path: string,
    typed: Readonly<Record<string, string>>,
  ): Promise<(Sent | undefined)[]> {
    const { consoleOperators } = this.#options;
    const isBoth = choices.below(2) === 0;
    const first = choices.below(2) === 0 ? 0 : 1;
    return Promise.all([
      consoleOperators.openAndPress(first, path, typed),
      isBoth ? consoleOperators.openAndPress(first === 0 ? 1 : 0, path, typed) : undefined,
    ]);
  }
}

function isLed(sent: Sent | undefined): boolean {
  return sent !== undefined && 'location' in sent && !/\/(sign-in|second-factor)\b/.test(sent.location);
}
