import { Browser, type Sent } from './browser.ts';
import type { Choices } from './choices.ts';
import type { Page, PageForm } from './page.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

const base = '/operator/test/cases';
// The authenticator app's next code is one period later than the one before.
const codeMs = 31_000;
const triesMax = 3;
// What is decided without the network's books.
const resolutions: ReadonlySet<string> = new Set(['accept', 'acknowledge', 'to_merchant']);

/** Somebody who is signed in to the console. */
export interface ConsoleLogin {
  operatorId: string;
  /** Of the session. */
  cookie: string;
  /** A code of the authenticator app that was not used yet. */
  code: () => string;
}

export interface ConsoleOperatorsOptions {
  traffic: Traffic;
  clock: VirtualClock;
  logins: readonly ConsoleLogin[];
  note: (text: string) => void;
}

interface Person {
  browser: Browser;
  code: () => string;
}

/** Two operators who resolve cases at the pages of the console, beside those who do so by command. */
export class ConsoleOperators {
  readonly operatorIds: readonly string[];
  readonly #options: ConsoleOperatorsOptions;
  readonly #people: readonly Person[];

  constructor(options: ConsoleOperatorsOptions) {
    const { logins } = options;
    this.#options = options;
    this.operatorIds = logins.map(({ operatorId }) => operatorId);
    this.#people = logins.map(({ cookie, code }) => ({
      browser: new Browser({ ...options, cookies: { 'operator-session': cookie } }),
      code,
    }));
  }

  /** One proposes, and the other confirms, at the same time as the first one withdraws, or twice. */
  async decide(choices: Choices): Promise<void> {
    const [one, other] = choices.below(2) === 0 ? this.#people : this.#people.toReversed();
    if (!one || !other) return;
    const { text } = await one.browser.open(`${base}?status=open`);
    const ids = [...text.matchAll(/\/operator\/test\/cases\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
    const id = ids[choices.below(Math.max(1, ids.length))];
    const form = id === undefined ? undefined : formOf(await one.browser.open(`${base}/${id}/propose`));
    const possible = (form?.options['resolution'] ?? []).filter((resolution) => resolutions.has(resolution));
    const resolution = possible[choices.below(Math.max(1, possible.length))];
    if (!form || resolution === undefined) return;
    await this.#press(one, form, { resolution, evidence: 'Statement of the network, 20 November.' });
    const [confirmation, withdrawal] = [
      formOf(await other.browser.open(`${base}/${id}/confirm`)),
      formOf(await one.browser.open(`${base}/${id}/withdraw`)),
    ];
    const confirm = async () => confirmation && this.#press(other, confirmation, {});
    const withdraw = async () => withdrawal && this.#press(one, withdrawal, {});
    await Promise.all([confirm(), choices.below(2) === 0 ? confirm() : withdraw()]);
  }

  open(person: 0 | 1, path: string): Promise<Page> {
    return this.#person(person).browser.open(path);
  }

  /** Again a while later where the authenticator's code was not accepted yet; undefined where there is no form. */
  async openAndPress(person: 0 | 1, path: string, typed: Readonly<Record<string, string>>): Promise<Sent | undefined> {
    const who = this.#person(person);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const form = formOf(await who.browser.open(path));
      const sent = form && (await this.#press(who, form, typed));
      if (!sent || !isCodeRefused(sent)) return sent;
      await this.#options.clock.ofMachine().sleep(codeMs);
    }
    return undefined;
  }

  #person(index: 0 | 1): Person {
    const person = this.#people[index];
    if (!person) throw new Error('there are two operators');
    return person;
  }

  async #press({ browser, code }: Person, form: PageForm, typed: Readonly<Record<string, string>>): Promise<Sent> {
    const factor = form.fields.includes('second_factor') ? { second_factor: code() } : {};
    const sent = await browser.send(form, { ...form.filled, ...typed, ...factor });
    this.#options.note(`  the console ${'location' in sent ? `leads to ${sent.location}` : `has ${sent.page.status}`}`);
    return sent;
  }
}

export function isCodeRefused(sent: Sent): boolean {
  return 'page' in sent && sent.page.text.includes('id="second_factor-error"');
}

function formOf({ forms }: Page): PageForm | undefined {
  return forms.find(({ hidden }) => hidden['form_id'] !== undefined);
}
