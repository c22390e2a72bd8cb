import { Browser, type Sent } from './browser.ts';
import { isCodeRefused, isLed } from './console-operators.ts';
import type { Choices } from './choices.ts';
import type { MerchantClient } from './merchant-client.ts';
import type { PageForm } from './page.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

// The authenticator app's next code is one period later than the one before.
const codeMs = 31_000;
// Every process refuses a revoked key within five seconds.
const refusedWithinMs = 6_000;
const triesMax = 4;
const formerRoles = ['finance', 'cashier', 'developer'] as const;
/** By which what was posted with a revoked key is recognised. */
export const stolenNarration = 'Posted with a revoked key';
const newNumber = '7010001';

/** Somebody of the first merchant's business, signed in. */
export interface TeamMember {
  accountId: string;
  email: string;
  /** Of the session. */
  cookie: string;
  /** A code of the authenticator app that was not used yet. */
  code: () => string;
}

export interface TeamOptions {
  traffic: Traffic;
  clock: VirtualClock;
  /** `/dashboard/test/` and the merchant's short id. */
  base: string;
  /** Two owners, and a developer whom they change and remove. */
  people: readonly [TeamMember, TeamMember, TeamMember];
  /** The program of the first merchant, and the id of the key that it has. */
  client: MerchantClient;
  keyId: string;
  /** The newest mail that the service has written to an address. */
  readMail: (address: string) => Promise<string | undefined>;
  note: (text: string) => void;
}

interface Person extends TeamMember {
  browser: Browser;
}

/** The people of a business, who change its keys and its team at the pages of the dashboard while its program goes on. */
export class Team {
  readonly #options: TeamOptions;
  readonly #owners: readonly [Person, Person];
  readonly #developer: Person;
  // One change of the team, or of the keys, after the other: whoever did it knows what came of it.
  #isBusy = false;
  #keyId: string;

  constructor(options: TeamOptions) {
    this.#options = options;
    this.#keyId = options.keyId;
    const [one, other, developer] = options.people.map((member) => ({
      ...member,
      browser: new Browser({ ...options, cookies: { 'merchant-session': member.cookie } }),
    }));
    if (!one || !other || !developer) throw new Error('a team has three people');
    this.#owners = [one, other];
    this.#developer = developer;
  }

  get developerId(): string {
    return this.#developer.accountId;
  }

  /** The program gets a new key; then both owners revoke the old one at once, with which somebody goes on posting. */
  rollKey(choices: Choices): Promise<void> {
    return this.#alone(async () => {
      const { base, client } = this.#options;
      const [old, keyId] = [client.key, this.#keyId];
      const [one, other] = choices.below(2) === 0 ? this.#owners : this.#owners.toReversed();
      if (!one || !other) return;
      const rolled = await this.#press(one, `${base}/keys/${keyId}/roll`, { overlap: '604800' });
      const [key] = rolled && 'page' in rolled ? (/sk_test_[0-9A-Za-z]{38}/.exec(rolled.page.text) ?? []) : [];
      const { text } = await one.browser.open(`${base}/keys/${keyId}`);
      const [, nextId] = /\/keys\/([0-9a-f-]{36})">the key that replaced it/.exec(text) ?? [];
      // Where no page has shown it, the program goes on with the one that it has.
      if (key === undefined || nextId === undefined) return;
      client.useKey(key);
      this.#keyId = nextId;
      const revoke = (who: Person) => this.#press(who, `${base}/keys/${keyId}/revoke`, {});
      const pressed = await Promise.all([revoke(other), choices.below(2) === 0 ? revoke(one) : undefined]);
      if (pressed.some(isLed)) await this.#postWithRevoked(old);
    });
  }

  /** Owners change the developer's role, both at once; then the developer does what the new role may not do. */
  changeRole(choices: Choices): Promise<void> {
    return this.#alone(async () => {
      const path = `${this.#options.base}/settings/team/${this.developerId}/role`;
      const roles = this.#owners.map(() => choices.pick(formerRoles));
      const change = (index: 0 | 1) => this.#press(this.#owners[index], path, { role: roles[index] ?? 'finance' });
      const both = choices.below(2) === 0;
      const sent = await Promise.all([change(0), both ? change(1) : undefined]);
      if (!both && isLed(sent[0]) && roles[0] !== 'developer') await this.#expectRefusal();
    });
  }

  /** An owner, or both at once, remove the developer, who acts meanwhile and afterwards; and may come back by an invitation. */
  removeMember(choices: Choices): Promise<void> {
    return this.#alone(async () => {
      const { base, readMail } = this.#options;
      const path = `${base}/settings/team/${this.developerId}/remove`;
      const remove = (index: 0 | 1) => this.#press(this.#owners[index], path, {});
      const prepared = await this.#openPayout();
      const [, ...removed] = await Promise.all([
        choices.below(2) === 0 && this.#payOut(),
        remove(0),
        choices.below(2) === 0 ? remove(1) : undefined,
      ]);
      if (!removed.some(isLed)) return;
      await this.#expectRefusal(prepared);
      if (choices.below(2) === 0) return;
      const { email } = this.#developer;
      const invited = await this.#press(this.#owners[0], `${base}/settings/team/invite`, { email, role: 'developer' });
      const [, link] = /(\/dashboard\/invitation\/\S+)/.exec((await readMail(email)) ?? '') ?? [];
      if (!isLed(invited) || link === undefined) return;
      const form = (await this.#developer.browser.open(link)).forms.find(({ action }) => action === link);
      const joins = form ? [this.#developer.browser.send(form, {}), this.#developer.browser.send(form, {})] : [];
      this.#note('joins', (await Promise.all(joins)).find(isLed));
    });
  }

  /** The developer orders a payout, which a developer may do in the test environment. */
  async #payOut(): Promise<Sent | undefined> {
    const form = await this.#openPayout();
    const shown = form && (await this.#developer.browser.send(form, payoutOf(form)));
    const confirmed = shown && 'page' in shown && shown.page.forms.find(({ hidden }) => hidden['confirmed'] === 'true');
    if (!confirmed) return undefined;
    const factor = confirmed.fields.includes('second_factor') ? { second_factor: this.#developer.code() } : {};
    return this.#developer.browser.send(confirmed, { ...confirmed.filled, ...factor });
  }

  async #openPayout(): Promise<PageForm | undefined> {
    const { forms } = await this.#developer.browser.open(`${this.#options.base}/transfers/new`);
    return forms.find(({ fields }) => fields.includes('beneficiary_name'));
  }

  /** Neither a form that was open before nor a new one does anything for a person who may not any more. */
  async #expectRefusal(prepared?: PageForm): Promise<void> {
    const { base } = this.#options;
    const sent = prepared && (await this.#developer.browser.send(prepared, payoutOf(prepared)));
    if (isLed(sent) || (sent && 'page' in sent && sent.page.status < 400))
      throw new Error('somebody who is removed pressed a form, and it did not refuse them');
    const { forms, status } = await this.#developer.browser.open(`${base}/keys/new`);
    if (forms.some(({ hidden }) => hidden['form_id'] !== undefined))
      throw new Error(`somebody who may not manage keys has the form of a new one: ${status}`);
  }

  async #postWithRevoked(key: string): Promise<void> {
    const { clock, client, note } = this.#options;
    await clock.ofMachine().sleep(refusedWithinMs);
    const payee = { network: 'wave', account_number: newNumber, beneficiary_name: 'Awa Ceesay' };
    const body = { ...payee, amount: 5, narration: stolenNarration };
    const { status } = await client.sendWith(key, 'POST', '/v1/transfers', body, `stolen ${key}`);
    note(`  a revoked key is answered with ${status}`);
    if (status !== 401) throw new Error(`a revoked key is answered with ${status}`);
  }

  /** Opens the form and presses its button, with the next code; again a while later where the code was not accepted yet. */
  async #press(person: Person, path: string, typed: Readonly<Record<string, string>>): Promise<Sent | undefined> {
    const { clock } = this.#options;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const { forms } = await person.browser.open(path);
      const form = forms.find(({ hidden }) => hidden['form_id'] !== undefined);
      if (!form) return undefined;
      const factor = form.fields.includes('second_factor') ? { second_factor: person.code() } : {};
      const sent = await person.browser.send(form, { ...form.filled, ...typed, ...factor });
      this.#note(path.split('/').at(-1) ?? '', sent);
      if (!isCodeRefused(sent)) return sent;
      await clock.ofMachine().sleep(codeMs);
    }
    return undefined;
  }

  #note(what: string, sent: Sent | undefined): void {
    const where = sent && 'location' in sent ? `leads to ${sent.location}` : `has ${sent?.page.status ?? 'no form'}`;
    this.#options.note(`  the team ${what}: ${where}`);
  }

  async #alone(body: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await body();
    } finally {
      this.#isBusy = false;
    }
  }
}

function payoutOf(form: PageForm): Record<string, string> {
  const payee = { network: 'wave', account_number: newNumber, beneficiary_name: 'Awa Ceesay' };
  return { ...form.filled, ...payee, amount: '11' };
}
