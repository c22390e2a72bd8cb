import { isLed, type ConsoleOperators } from './console-operators.ts';
import type { Choices } from './choices.ts';
import type { MerchantClient } from './merchant-client.ts';
import { ownAccountName, secondAccountName } from './own-account.ts';
import type { VirtualClock } from './virtual-clock.ts';

type Typed = Readonly<Record<string, string>>;

const largestDalasi = [40, 90, 150, 300] as const;
const schedules = ['daily', 'weekly', 'manual'] as const;
const termsOfBusiness = ['rate-limits', 'receipt-limit'] as const;
const rates = ['300', '400', 'none'] as const;
// Every process refuses a revoked key within five seconds.
const refusedWithinMs = 6_000;
const checks = ['identity', 'registration', 'contact', 'terms', 'test_payment'];
/** By which a payout that was ordered with a revoked key is recognised. */
export const revokedNarration = 'Posted with a key that an operator has revoked';

export interface ConsoleActsOptions {
  consoleOperators: ConsoleOperators;
  clock: VirtualClock;
  /** The merchant whose terms, keys and account are changed, and its business. */
  client: MerchantClient;
  businessId: string;
  /** What is typed to connect a second account of its own. */
  secondAccount: Typed;
}

/** What two operators change at the pages of the console: one of them, or both at once. */
export class ConsoleActs {
  /** The names of the businesses that were created, each by one form. */
  readonly businesses: string[] = [];
  readonly #options: ConsoleActsOptions;
  #fees = 0;
  #isChangingKeys = false;

  constructor(options: ConsoleActsOptions) {
    this.#options = options;
  }

  get operators(): ConsoleOperators {
    return this.#options.consoleOperators;
  }

  /** Fees, limits and reserves, of the business or of all that agreed nothing else. */
  async terms(choices: Choices): Promise<void> {
    const isDefault = choices.below(3) === 0;
    const name = choices.pick(['fees', 'transfer-fees', 'limits', 'settlement', ...(isDefault ? [] : termsOfBusiness)]);
    const query = name === 'transfer-fees' && choices.below(2) === 0 ? 'network=wave' : '';
    const path = isDefault ? `/operator/defaults/${name}?${query}` : this.#ofBusiness(name, query);
    const [typed, otherTyped] = [1, 2].map(() => this.#termsOf(name, isDefault, choices));
    await this.#options.consoleOperators.atOnce(choices, path, typed ?? {}, otherTyped);
  }

  #termsOf(name: string, isDefault: boolean, choices: Choices): Typed {
    const ofBusiness = (typed: Typed): Typed => (isDefault ? {} : typed);
    switch (name) {
      case 'fees':
        return { ...ofBusiness({ payer: choices.pick(['business', 'customer']) }), ...this.#fee(choices) };
      case 'transfer-fees':
        return this.#fee(choices);
      case 'limits':
        return { largest: String(choices.pick(largestDalasi) + choices.below(30)), daily: isDefault ? '' : 'none' };
      case 'settlement':
        return { ...ofBusiness({ schedule: choices.pick(schedules) }), ...reserveOf(choices) };
      case 'rate-limits':
        return { requests: choices.pick(rates), 'key-percent': '', pages: choices.pick(rates) };
      default:
        return { above: choices.pick(['', '70', '120']) };
    }
  }

  /** Every sub-account that has enough is paid out, once in the period. */
  async settle(choices: Choices): Promise<void> {
    await this.#options.consoleOperators.atOnce(choices, this.#ofBusiness('settlement-run'), {});
  }

  /** The business's accounts get credentials that work as well, or another order; a second one is connected. */
  async changeAccount(choices: Choices): Promise<void> {
    const { consoleOperators, secondAccount } = this.#options;
    const accounts = '/operator/rail-accounts';
    const name = choices.pick([ownAccountName, ownAccountName, secondAccountName]);
    const order = (): Typed => ({ order: choices.pick(['1', '2', '5', '']) });
    const [page, typed, otherTyped] = choices.pick<readonly [page: string, typed: Typed, otherTyped?: Typed]>([
      [`${name}/rotate`, { 'client-id': 'simulated', overlap: '1' }],
      [`${name}/order`, order(), order()],
      [`${name}/order`, order(), order()],
      [`${name}/test`, {}],
      ['new/gsma', secondAccount],
      ['new/gsma', secondAccount],
    ]);
    await consoleOperators.atOnce(choices, `${accounts}/${page}`, typed, otherTyped);
  }

  /** A business is created, checked by one operator and approved by the other, and its owner is invited. */
  async openBusiness(choices: Choices): Promise<void> {
    const { consoleOperators } = this.#options;
    const name = `Bakery ${this.businesses.length + 1}`;
    this.businesses.push(name);
    const created = await consoleOperators.pressTwice(0, '/operator/businesses/new', { name });
    const [location] = created.filter(isLed).map((sent) => sent.location);
    if (location === undefined) return;
    const ticked: Typed = Object.fromEntries(checks.map((item) => [`checks.${item}`, 'true']));
    await consoleOperators.openAndPress(0, `${location}/approval`, ticked);
    const approve = (person: 0 | 1) => consoleOperators.openAndPress(person, `${location}/approval/approve`, {});
    const [own] = await Promise.all([choices.below(2) === 0 ? approve(0) : undefined, approve(1)]);
    if (isLed(own)) throw new Error('an operator has approved what they have checked themselves');
    const [typed, otherTyped] = ['one', 'other'].map((who) => ({ email: `${who}.owner@example.gm` }));
    if (typed) await consoleOperators.atOnce(choices, `${location}/owner`, typed, otherTyped);
  }

  /** The program gets another key, which both revoke at once when it has the first one again; somebody goes on posting with it. */
  async changeKeys(choices: Choices): Promise<void> {
    if (this.#isChangingKeys) return;
    this.#isChangingKeys = true;
    await this.#changeKeys(choices);
    this.#isChangingKeys = false;
  }

  async #changeKeys(choices: Choices): Promise<void> {
    const { consoleOperators, client, clock } = this.#options;
    const before = await this.#listKeys();
    const scopes = { 'scopes.read': 'true', 'scopes.charge': 'true', 'scopes.payout': 'true' };
    const sent = await consoleOperators.openAndPress(0, this.#ofBusiness('keys/new'), { name: 'Program', ...scopes });
    const [key] = sent && 'page' in sent ? (/sk_test_[0-9A-Za-z]{38}/.exec(sent.page.text) ?? []) : [];
    const keyId = (await this.#listKeys()).find((id) => !before.includes(id));
    if (key === undefined || keyId === undefined) return;
    const old = client.key;
    client.useKey(key);
    await clock.ofMachine().sleep(refusedWithinMs);
    client.useKey(old);
    const revoked = await consoleOperators.atOnce(choices, this.#ofBusiness(`keys/${keyId}/revoke`), {});
    if (!revoked.some(isLed)) return;
    await clock.ofMachine().sleep(refusedWithinMs);
    const payee = { network: 'wave', account_number: '7010001', beneficiary_name: 'Awa Ceesay' };
    const body = { ...payee, amount: 5, narration: revokedNarration };
    const { status } = await client.sendWith(key, 'POST', '/v1/transfers', body, `revoked ${key}`);
    if (status !== 401) throw new Error(`a revoked key is answered with ${status}`);
  }

  async #listKeys(): Promise<string[]> {
    const { text } = await this.#options.consoleOperators.open(0, this.#ofBusiness('keys'));
    return [...text.matchAll(/\/keys\/([0-9a-f-]{36})\?environment=test/g)].map(([, id = '']) => id);
  }

  #fee(choices: Choices): Typed {
    if (choices.below(4) === 0) return { default: 'true' };
    // No two forms agree the same.
    const fixed = ((this.#fees += 1) / 100).toFixed(2);
    return { percent: '', fixed, minimum: '', maximum: '' };
  }

  #ofBusiness(page: string, query = ''): string {
    return `/operator/businesses/${this.#options.businessId}/${page}?environment=test&${query}`;
  }
}

function reserveOf(choices: Choices): Typed {
  if (choices.below(4) === 0) return { default: 'true' };
  return { percent: String(1 + choices.below(20)), hours: String(1 + choices.below(9)), new_for_days: '' };
}
