import { Browser } from './browser.ts';
import type { Choices } from './choices.ts';
import type { Page, PageForm } from './page.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

const base = '/operator/test/cases';
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

/** Two operators who resolve cases at the pages of the console, beside those who do so by command. */
export class ConsoleOperators {
  readonly operatorIds: readonly string[];
  readonly #options: ConsoleOperatorsOptions;
  readonly #people: readonly { browser: Browser; code: () => string }[];

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

  async #press(
    { browser, code }: { browser: Browser; code: () => string },
    form: PageForm,
    typed: Readonly<Record<string, string>>,
  ): Promise<void> {
    const factor = form.fields.includes('second_factor') ? { second_factor: code() } : {};
    const sent = await browser.send(form, { ...form.filled, ...typed, ...factor });
    this.#options.note(`  the console ${'location' in sent ? `leads to ${sent.location}` : `has ${sent.page.status}`}`);
  }
}

function formOf({ forms }: Page): PageForm | undefined {
  return forms.find(({ hidden }) => hidden['form_id'] !== undefined);
}
