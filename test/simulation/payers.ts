import type { Database } from '../../server/src/kit/db.ts';
import { Browser } from './browser.ts';
import { Choices } from './choices.ts';
import type { Networks } from './networks.ts';
import type { Page, PageForm } from './page.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

const endings = [
  '0001',
  '0001',
  '0001',
  '0002',
  '0003',
  '0005',
  '0007',
  '0009',
  '0012',
  '0012',
  '1234',
  '1234',
] as const;
const refusedNumber = '12';
// The simulated networks send the first one.
const codes = ['123456', '123456', '111111'] as const;
const roundsMax = 7;
const pressesMax = 3;
const pauseMs = 2_000;
const sharedPage = 3;

export interface PayersOptions {
  traffic: Traffic;
  clock: VirtualClock;
  networks: Networks;
  /** Reads past the service. */
  db: Database;
  waitForStep: (label: string) => Promise<void>;
  note: (text: string) => void;
}

/** People who pay by the pages of links and counters, on phones without scripts. */
export class Payers {
  /** The paths of the payments to which they were led. */
  readonly paths = new Set<string>();
  readonly #options: PayersOptions;
  readonly #browser: Browser;

  constructor(options: PayersOptions) {
    this.#options = options;
    this.#browser = new Browser(options);
  }

  /** One payer, or some at once. */
  async pay(path: string, choices: Choices): Promise<void> {
    const count = choices.below(sharedPage) === 0 ? 2 + choices.below(2) : 1;
    const payers = Array.from({ length: count }, () => new Choices(`payer ${choices.below(1_000_000)}`));
    await Promise.all(payers.map((payer) => this.#payAt(path, payer)));
  }

  /** At the page of a payment that somebody has asked for. */
  async payRequested(path: string, choices: Choices): Promise<void> {
    this.paths.add(path);
    await this.#payOn(path, choices);
  }

  /** The page of a link or counter that was deleted takes no payment. */
  async findClosed(path: string): Promise<void> {
    const { page, form } = withForm(await this.#browser.open(path), path);
    if (form) throw new Error(`${path} was deleted, and its page has a form: ${page.status}`);
  }

  async #payAt(path: string, choices: Choices): Promise<void> {
    let { page, form } = withForm(await this.#browser.open(path), path);
    for (let presses = 0; form !== undefined && presses < pressesMax; presses += 1) {
      const sent = await this.#press(form, { ...typedAmount(form, choices), ...typedChoice(form, choices) }, choices);
      if ('location' in sent) {
        const [led = ''] = sent.location.split('?');
        this.paths.add(led);
        await this.#payOn(led, choices);
        return;
      }
      ({ page, form } = withForm(sent.page, path));
    }
    this.#options.note(`  a payer leaves ${path.slice(0, 5)}: ${page.status}`);
  }

  /** On the page of a payment: until it has ended, or the payer is tired of it. */
  async #payOn(path: string, choices: Choices): Promise<void> {
    for (let round = 0; round < roundsMax; round += 1) {
      const page = await this.#browser.open(path);
      if (page.status !== 200) throw new Error(`the page of a payment has status ${page.status}`);
      if (page.text.includes('class="step ended')) return;
      const form = await this.#chooseForm(page, path, choices);
      if (form) await this.#press(form, { ...typedChoice(form, choices), ...typedCode(form, choices) }, choices);
      else await this.#wait(choices);
    }
  }

  /** What a payer does next: what the page asks for, now and then something else, or nothing. */
  async #chooseForm({ forms }: Page, path: string, choices: Choices): Promise<PageForm | undefined> {
    const at = (suffix: string) => forms.find(({ action }) => action === `${path}${suffix}`);
    if (choices.below(10) === 0) {
      const { forms: shown } = await this.#browser.open(`${path}/cancel`);
      return shown.find(({ action }) => action === `${path}/cancel`);
    }
    const change = choices.below(3) === 0 ? at('/change') : undefined;
    const confirm = choices.below(2) === 0 ? at('/confirm') : undefined;
    return change ?? at('') ?? at('/code') ?? confirm;
  }

  async #wait(choices: Choices): Promise<void> {
    if (choices.below(2) === 0) await this.#tap(choices);
    await this.#options.clock.ofMachine().sleep(pauseMs);
  }

  /** Some payer answers a prompt that waits for it. */
  async #tap(choices: Choices): Promise<void> {
    await this.#options.waitForStep('payer taps');
    const prompts = await this.#options.db.rows<{ id: string }>({
      name: 'simulation_waiting_sessions',
      text: `SELECT id FROM simulator.sessions WHERE payer_number LIKE '%1234' AND status = 'open' ORDER BY id`,
      values: [],
    });
    const prompt = prompts[choices.below(Math.max(1, prompts.length))];
    if (prompt) await this.#options.networks.act(prompt.id, choices.pick(['approve', 'approve', 'decline'] as const));
  }

  /** Once, or twice at once, as people press who see nothing happen. Both lead to the same payment. */
  async #press(form: PageForm, typed: Readonly<Record<string, string>>, choices: Choices) {
    const press = () => this.#browser.send(form, typed);
    if (choices.below(3) > 0) return press();
    const [one, other] = await Promise.all([press(), press()]);
    const [first, second] = [one, other].map((sent) => ('location' in sent ? pathOf(sent.location) : null));
    if (typeof first === 'string' && typeof second === 'string' && first !== second)
      throw new Error(`one form leads to ${first} and to ${second}`);
    return 'location' in one ? one : other;
  }
}

function withForm(page: Page, path: string): { page: Page; form: PageForm | undefined } {
  return { page, form: page.forms.find(({ action }) => action === path) };
}

function typedAmount({ fields }: PageForm, choices: Choices): Record<string, string> {
  const student = fields.includes('field_0') ? { field_0: choices.pick(['', 'Awa Ceesay']) } : {};
  return fields.includes('amount') ? { ...student, amount: String(1 + choices.below(300)) } : student;
}

function typedChoice({ networks }: PageForm, choices: Choices): Record<string, string> {
  const [first, ...others] = networks;
  if (first === undefined) return {};
  const digits = String(choices.below(100)).padStart(2, '0');
  const number = choices.below(6) === 0 ? refusedNumber : `7${digits}${choices.pick(endings)}`;
  return { network: choices.pick([first, ...others]), account_number: number };
}

function typedCode({ fields }: PageForm, choices: Choices): Record<string, string> {
  return fields.includes('code') ? { code: choices.pick(codes) } : {};
}

function pathOf(location: string): string {
  return location.split('?')[0] ?? '';
}
