import type { Database } from '../../server/src/kit/db.ts';
import type { Choices } from './choices.ts';
import type { MerchantClient } from './merchant-client.ts';
import { ownAccountName } from './own-account.ts';
import type { Upkeep } from './upkeep.ts';
import type { VirtualClock } from './virtual-clock.ts';

const secondMs = 1_000;
// Every process looks once a second whether an account has changed; this leaves room for slow queries and a restart.
const knownWithinMs = 10 * secondMs;
const pausesMs = [2, 20, 90, 600].map((seconds) => seconds * secondMs) as [number, ...number[]];
const triesMax = 10;

/** A time in which every process knew that the network is paused. */
interface Pause {
  fromMs: number;
  toMs: number;
}

export interface NetworkPausesOptions {
  upkeep: Upkeep;
  clock: VirtualClock;
  /** The merchant that has one account for all that it collects and pays out. */
  client: MerchantClient;
  /** Reads past the service. */
  db: Database;
  waitForStep: (label: string) => Promise<void>;
}

/** Operators who pause the only network of a merchant, and resume it, while its payments and payouts are under way. */
export class NetworkPauses {
  readonly pauses: Pause[] = [];
  readonly #options: NetworkPausesOptions;
  #isPausing = false;
  #probes = 0;

  constructor(options: NetworkPausesOptions) {
    this.#options = options;
  }

  async pause(choices: Choices): Promise<void> {
    if (this.#isPausing) return;
    this.#isPausing = true;
    const { clock } = this.#options;
    const machine = clock.ofMachine();
    await this.set(false);
    await machine.sleep(knownWithinMs);
    const fromMs = clock.passedMs;
    await this.#probe(false);
    await machine.sleep(choices.pick(pausesMs));
    await this.#probe(false);
    this.pauses.push({ fromMs, toMs: clock.passedMs });
    await this.set(true);
    await machine.sleep(knownWithinMs);
    await this.#probe(true);
    this.#isPausing = false;
  }

  /** On or off, until it is so. */
  async set(isOn: boolean): Promise<void> {
    const { upkeep } = this.#options;
    for (let tries = 0; tries < triesMax && (await this.#isOn()) !== isOn; tries += 1) {
      if (isOn) await upkeep.resume();
      else await upkeep.pause();
    }
  }

  /** A payment and a payout: taken, or refused because there is no network. */
  async #probe(isOn: boolean): Promise<void> {
    const { client } = this.#options;
    const [network, number] = ['aps', '7010001'];
    const data = { amount: 60, network, account_number: number };
    const payee = { network, account_number: number, amount: 3, beneficiary_name: 'Awa Ceesay' };
    for (const [to, body] of [
      ['payments', { data }],
      ['transfers', payee],
    ] as const) {
      const response = await client.send('POST', `/v1/${to}`, body, `key ${to} ${(this.#probes += 1)}`);
      const isRefused = response.body['code'] === 'network_not_available';
      if (isRefused === isOn)
        throw new Error(
          `a network is ${isOn ? 'not ' : ''}paused, and ${to} answer ${response.status} ${response.text}`,
        );
    }
  }

  async #isOn(): Promise<boolean> {
    const { db, waitForStep } = this.#options;
    await waitForStep('an operator looks at the account');
    const account = await db.row<{ isOn: boolean }>({
      name: 'simulation_account_is_on',
      text: 'SELECT disabled_at IS NULL AS "isOn" FROM rail_accounts WHERE name = $1',
      values: [ownAccountName],
    });
    return account?.isOn ?? false;
  }
}
