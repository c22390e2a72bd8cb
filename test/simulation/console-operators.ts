import { Browser, type Sent, type SentFile } from './browser.ts';
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
  /** The cookie of a new session, once the one before has ended. */
  signInAgain: () => Promise<string>;
}

export interface ConsoleOperatorsOptions {
  traffic: Traffic;
  clock: VirtualClock;
  logins: readonly ConsoleLogin[];
  note: (text: string) => void;
}

type Typed = Readonly<Record<string, string>>;

interface Person {
  nextCodeMs: number;
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
      nextCodeMs: 0,
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

  /** After days, when their sessions have ended. */
  async signInAgain(): Promise<void> {
    for (const [index, { signInAgain }] of this.#options.logins.entries())
      this.#people[index]?.browser.setCookie('operator-session', await signInAgain());
  }

  open(person: 0 | 1, path: string): Promise<Page> {
    return this.#person(person).browser.open(path);
  }

  /**
   * Also what a page asks to confirm, and again a while later where the authenticator's code was not accepted yet; undefined where there
   * is no form.
   */
  async openAndPress(person: 0 | 1, path: string, typed: Typed, file?: SentFile): Promise<Sent | undefined> {
    const who = this.#person(person);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const form = formOf(await who.browser.open(path));
      const first = form && (await this.#press(who, form, typed, file));
      const confirmation = first && 'page' in first ? confirmationOf(first.page) : undefined;
      const sent = confirmation ? await this.#press(who, confirmation, {}) : first;
      if (!sent || !isCodeRefused(sent)) return sent;
      await this.#options.clock.ofMachine().sleep(codeMs);
    }
    return undefined;
  }

  /** One of them, or both at once, who may type something else. */
  async atOnce(choices: Choices, path: string, typed: Typed, otherTyped = typed): Promise<Sent[]> {
    const isBoth = choices.below(2) === 0;
    const first = choices.below(2) === 0 ? 0 : 1;
    const sent = await Promise.all([
      this.openAndPress(first, path, typed),
      isBoth ? this.openAndPress(first === 0 ? 1 : 0, path, otherTyped) : undefined,
    ]);
    return sent.filter((one) => one !== undefined);
  }

  /** One form whose button is pressed twice at once. */
  async pressTwice(person: 0 | 1, path: string, typed: Typed): Promise<Sent[]> {
    const who = this.#person(person);
    const form = formOf(await who.browser.open(path));
    if (!form) return [];
    const presses = [this.#press(who, form, typed), this.#press(who, form, typed)];
    return Promise.all(presses);
  }

  #person(index: 0 | 1): Person {
    const person = this.#people[index];
    if (!person) throw new Error('there are two operators');
    return person;
  }

  async #press(person: Person, form: PageForm, typed: Typed, file?: SentFile): Promise<Sent> {
    const { browser, code } = person;
    const needsCode = form.fields.includes('second_factor');
    if (needsCode) await this.#untilNextCode(person);
    const factor = needsCode ? { second_factor: code() } : {};
    const sent = await browser.send(form, { ...form.filled, ...typed, ...factor }, file);
    this.#options.note(`  the console ${'location' in sent ? `leads to ${sent.location}` : `has ${sent.page.status}`}`);
    return sent;
  }

  /** Too many codes that come too early are refused for minutes. */
  async #untilNextCode(person: Person): Promise<void> {
    const { clock } = this.#options;
    const now = clock.passedMs;
    const atMs = Math.max(now, person.nextCodeMs);
    person.nextCodeMs = atMs + codeMs;
    if (atMs > now) await clock.ofMachine().sleep(atMs - now);
  }
}

/** Not to a sign-in: a session whose new token was lost on its way has ended. */
export function isLed(sent: Sent | undefined): sent is { location: string } {
  return sent !== undefined && 'location' in sent && !/\/(sign-in|second-factor)\b/.test(sent.location);
}

export function isCodeRefused(sent: Sent): boolean {
  return 'page' in sent && sent.page.text.includes('id="second_factor-error"');
}

function formOf({ forms }: Page): PageForm | undefined {
  return forms.find(({ hidden }) => hidden['form_id'] !== undefined);
}

function confirmationOf({ status, forms }: Page): PageForm | undefined {
  return status === 200 ? forms.find(({ hidden }) => hidden['confirmed'] === 'true') : undefined;
}
