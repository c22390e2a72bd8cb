import { formatAmount } from '../../server/src/kit/money.ts';
import { Browser, type Sent } from './browser.ts';
import type { Choices } from './choices.ts';
import type { Page, PageForm } from './page.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

const numbers = ['7010001', '7020001', '7030005', '7040012'] as const;
const smallestMinor = 1_000n;
// A form has an amount that no other form has.
const formsMax = 100;

type Setting = readonly [page: string, first: Typed, ...others: Typed[]];
type Typed = Readonly<Record<string, string>>;

/** Each with what it may be set to. */
const settings: readonly [Setting, ...Setting[]] = [
  ['checkout/fees', { fee_payer: 'customer' }, { fee_payer: 'business' }],
  ['payouts/schedule', { schedule: 'daily' }, { schedule: 'weekly' }, { schedule: 'manual' }],
  ['limits/refunds', { refund_limit: '20' }, { refund_limit: '90' }, { refund_limit: '' }],
  ['limits/payouts', { above: '80' }, { above: '30' }, { above: '' }],
  ['limits/receipts', { above: '70' }, { above: '120' }, { above: '' }],
  ['checkout/urls', { 'data.return_url': 'https://shop.example/thanks' }, { 'data.return_url': '' }],
];

/** Somebody of the first merchant's business. */
export interface Member {
  email: string;
  password: string;
  /** A code of the authenticator app that was not used yet. */
  code: () => string;
}

interface SignedIn extends Member {
  browser: Browser;
}

/** A form whose button was pressed, and where that led; null where it was refused, or no page says. */
export interface PressedForm {
  formId: string;
  path: string;
  /** Null where it is all that can be refunded. */
  amountMinor: bigint | null;
  location: string | null;
  /** The page that says so, where the form leads to none; null where no page came. */
  shown: string | null;
}

interface FormToFill {
  path: string;
  /** Nothing, where it only asks. */
  typed?: Readonly<Record<string, string>> | undefined;
  /** What a second person types who fills it in at the same time, where that is something else. */
  otherTyped?: Readonly<Record<string, string>> | undefined;
  amountMinor?: bigint | null;
  /** Whether a page shows what will happen before the button acts. */
  isConfirmed?: boolean;
  /** Whether two people who fill it in would want two of it. */
  isOfOne?: boolean;
}

/** A link, counter or payment that somebody has created by one form; the id is undefined where no page has said it. */
export interface CreatedRecord {
  kind: 'link' | 'counter' | 'payment' | 'payment_at_counter';
  /** By which it is found; the counter, where that has nothing else. */
  title: string;
  id: string | undefined;
}

export interface DashboardOptions {
  traffic: Traffic;
  clock: VirtualClock;
  /** `/dashboard/test/` and the merchant's short id. */
  base: string;
  members: readonly Member[];
  note: (text: string) => void;
}

/** The people of a business, who move money by the pages of the dashboard. */
export class Dashboard {
  readonly pressed: PressedForm[] = [];
  readonly created: CreatedRecord[] = [];
  readonly #options: DashboardOptions;
  readonly #signedIn: SignedIn[] = [];
  #amounts = 0;
  #titles = 0;

  constructor(options: DashboardOptions) {
    this.#options = options;
  }

  /** By `carry`, while nothing else goes on: the hash of a password takes a time of its own. */
  async signIn(carry: Traffic['carry']): Promise<void> {
    const { clock, members, traffic } = this.#options;
    let way = carry;
    const browserOf = () => new Browser({ traffic: { carry: (call) => way(call) }, clock });
    for (const member of members) {
      const browser = browserOf();
      const { email, password, code } = member;
      const sent = await fillIn(browser, '/dashboard/sign-in', { email, password });
      const confirmed = await fillIn(browser, locationOf(sent), { second_factor: code() });
      const { status } = await browser.open(locationOf(confirmed));
      if (status >= 400) throw new Error(`${email} is not signed in: ${status}`);
      this.#signedIn.push({ ...member, browser });
    }
    way = (call) => traffic.carry(call);
  }

  refund(paymentId: string, choices: Choices): Promise<unknown> {
    const isWhole = choices.below(3) === 0;
    const amountMinor = isWhole ? null : this.#nextAmount();
    const typed = amountMinor === null ? {} : { amount: amountText(amountMinor) };
    const path = `${this.#options.base}/payments/${paymentId}/refund`;
    return this.act({ path, typed, amountMinor, isConfirmed: true }, choices);
  }

  payOut(choices: Choices): Promise<unknown> {
    const amountMinor = this.#nextAmount() + (choices.below(2) === 0 ? 10_000n : 0n);
    const payee = { account_number: choices.pick(numbers), beneficiary_name: 'Awa Ceesay' };
    const typed = { amount: amountText(amountMinor), network: choices.pick(['wave', 'aps', 'qmoney']), ...payee };
    return this.act({ path: `${this.#options.base}/transfers/new`, typed, amountMinor, isConfirmed: true }, choices);
  }

  payOutSubAccount(id: string, choices: Choices): Promise<unknown> {
    const amountMinor = this.#nextAmount();
    const path = `${this.#options.base}/sub-accounts/${id}/payout?amount=${amountText(amountMinor)}`;
    return this.act({ path, amountMinor }, choices);
  }

  /** Approves or declines a payout that waits for a second person; whoever has asked for it may only take it back. */
  async decide(choices: Choices): Promise<void> {
    const { base } = this.#options;
    const [first] = this.#signedIn;
    const { text } = (await first?.browser.open(`${base}/transfers/requests`)) ?? { text: '' };
    const waiting = [...text.matchAll(/\/transfers\/requests\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
    const id = waiting[choices.below(Math.max(1, waiting.length))];
    if (id === undefined) return;
    const decision = choices.pick(['approve', 'approve', 'approve', 'decline']);
    const path = `${base}/transfers/requests/${id}/${decision}`;
    await this.act({ path }, choices);
  }

  /** Decides which payment a receipt has paid, of those that its page proposes. */
  async matchReceipt(choices: Choices): Promise<void> {
    const { base } = this.#options;
    const [first] = this.#signedIn;
    const { text } = (await first?.browser.open(`${base}/receipts`)) ?? { text: '' };
    const ids = [...text.matchAll(/\/receipts\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
    const id = ids[choices.below(Math.max(1, ids.length))];
    if (id === undefined) return;
    const { forms } = (await first?.browser.open(`${base}/receipts/${id}`)) ?? { forms: [] };
    const proposed = forms.flatMap(({ hidden }) => hidden['charge'] ?? []);
    const charge = proposed[choices.below(Math.max(1, proposed.length))];
    if (charge === undefined) return;
    const path = `${base}/receipts/${id}/match`;
    await this.act({ path, typed: { charge }, isConfirmed: true }, choices);
  }

  /** The new link's id. */
  openLink(choices: Choices): Promise<string | undefined> {
    const title = this.#nextTitle();
    const price = choices.below(2) === 0 ? { 'data.amount': '25' } : { 'data.min_amount': '2' };
    return this.#create('links/new', 'link', { 'data.title': title, ...price }, title, choices);
  }

  /** The new counter's id. */
  openCounter(choices: Choices): Promise<string | undefined> {
    const name = this.#nextTitle();
    return this.#create('counters/new', 'counter', { name, 'chat_numbers.0': '7012345' }, name, choices);
  }

  /** The new payment's id. */
  requestPayment(choices: Choices): Promise<string | undefined> {
    const title = this.#nextTitle();
    const amount = amountText(this.#nextAmount());
    return this.#create('payments/new', 'payment', { 'data.title': title, 'data.amount': amount }, title, choices);
  }

  /** The new payment's id, of a counter that has no other. */
  payAtScreen(counterId: string, choices: Choices): Promise<string | undefined> {
    const typed = { amount: amountText(this.#nextAmount()) };
    return this.#create(`counters/${counterId}/screen/amount`, 'payment_at_counter', typed, counterId, choices);
  }

  /** Two people may change it to something else at the same time. */
  async editPage(kind: 'payment-links' | 'virtual-terminals', id: string, choices: Choices): Promise<void> {
    const [typed, otherTyped] = [this.#nextTitle(), this.#nextTitle()].map((title): Typed =>
      kind === 'payment-links'
        ? { 'data.title': title, 'data.amount': amountText(this.#nextAmount()) }
        : { name: title, 'chat_numbers.0': '7012345' },
    );
    await this.act({ path: `${this.#options.base}/${listOf(kind)}/${id}/edit`, ...{ typed, otherTyped } }, choices);
  }

  /** A setting of the business, which two people may change to something else at the same time. */
  async changeSetting(choices: Choices): Promise<void> {
    const [page, first, ...others] = choices.pick(settings);
    const [typed, otherTyped] = [choices.pick([first, ...others]), choices.pick([first, ...others])];
    await this.act({ path: `${this.#options.base}/settings/${page}`, typed, otherTyped }, choices);
  }

  /** Off where it is on, and on where it is off: by one of them, or both at once. */
  async switchPage(kind: 'payment-links' | 'virtual-terminals', id: string, choices: Choices): Promise<void> {
    const path = `${this.#options.base}/${listOf(kind)}/${id}/switch`;
    await this.act({ path }, choices);
  }

  /** Whether a page has said so. */
  async deletePage(kind: 'payment-links' | 'virtual-terminals', id: string, choices: Choices): Promise<boolean> {
    const path = `${this.#options.base}/${listOf(kind)}/${id}/delete`;
    const forms = await this.act({ path }, choices);
    return forms.some(({ location }) => location !== null);
  }

  async #create(
    page: string,
    kind: CreatedRecord['kind'],
    typed: Readonly<Record<string, string>>,
    title: string,
    choices: Choices,
  ): Promise<string | undefined> {
    const path = `${this.#options.base}/${page}`;
    const [form] = await this.act({ path, typed, isOfOne: true }, choices);
    if (!form) return undefined;
    const [, id] = /\/([0-9a-f-]{36})$/.exec(form.location ?? '') ?? [];
    this.created.push({ kind, title, id });
    return id;
  }

  /** One of them, or two at once, each with a form of their own. */
  async act(form: FormToFill, choices: Choices): Promise<PressedForm[]> {
    const [one, other] = choices.below(2) === 0 ? this.#signedIn : this.#signedIn.toReversed();
    if (!one || !other) return [];
    const isShared = (form.amountMinor ?? null) === null && form.isOfOne !== true && choices.below(2) === 0;
    const presses = () => choices.pick(['once', 'once', 'twice', 'again'] as const);
    const ways = isShared ? ([presses(), presses()] as const) : ([presses()] as const);
    const [first, second] = ways;
    const ofOther = form.otherTyped && { typed: form.otherTyped };
    const pressed = await Promise.all([
      this.#fillIn(one, form, first),
      ...(second === undefined ? [] : [this.#fillIn(other, { ...form, ...ofOther }, second)]),
    ]);
    return pressed.filter((each) => each !== undefined);
  }

  async #fillIn(
    member: SignedIn,
    filling: FormToFill,
    presses: 'once' | 'twice' | 'again',
  ): Promise<PressedForm | undefined> {
    const { path, typed = {}, amountMinor = null, isConfirmed = false } = filling;
    const { browser } = member;
    let form = formOf(await browser.open(path));
    if (form && isConfirmed) {
      // Of money that only the shop itself can give back.
      const returned = form.fields.includes('money_returned') ? { money_returned: 'true' } : {};
      const shown = await browser.send(form, { ...form.filled, ...typed, ...returned });
      form = 'page' in shown ? formOf(shown.page, true) : undefined;
    }
    if (!form) {
      this.#options.note(`  ${member.email} has no form at ${path}`);
      return undefined;
    }
    const factor = form.fields.includes('second_factor') ? { second_factor: member.code() } : {};
    const acting = form;
    // A page that shows what will happen has what was typed.
    const filled = isConfirmed ? acting.filled : { ...acting.filled, ...typed };
    const press = () => browser.send(acting, { ...filled, ...factor });
    const sent = presses === 'twice' ? await Promise.all([press(), press()]) : [await press()];
    if (presses === 'again') sent.push(await press());
    return this.#notePressed({ formId: acting.hidden['form_id'] ?? '', path, amountMinor }, sent);
  }

  /** However often its button is pressed, a form leads to one place. */
  #notePressed(form: Omit<PressedForm, 'location' | 'shown'>, sent: readonly Sent[]): PressedForm {
    const { base, note } = this.#options;
    const locations = new Set(
      sent.flatMap((one) => ('location' in one && one.location.startsWith(base) ? [one.location] : [])),
    );
    if (locations.size > 1) throw new Error(`one form leads to ${[...locations].join(' and to ')}`);
    const [location = null] = locations;
    note(`  a form leads to ${location ?? 'no record'}`);
    const page = sent.flatMap((one) => ('page' in one && one.page.status === 200 ? [one.page.text] : []))[0];
    const pressed = { ...form, location, shown: page ?? null };
    this.pressed.push(pressed);
    return pressed;
  }

  #nextTitle(): string {
    return `Page ${(this.#titles += 1)}`;
  }

  #nextAmount(): bigint {
    this.#amounts += 1;
    if (this.#amounts >= formsMax) throw new Error('amounts are used up');
    return smallestMinor + BigInt(this.#amounts);
  }
}

async function fillIn(browser: Browser, path: string, typed: Readonly<Record<string, string>>): Promise<Sent> {
  const { forms } = await browser.open(path);
  const form = forms.find(({ fields }) => Object.keys(typed).every((name) => fields.includes(name)));
  if (!form) throw new Error(`${path} has no form for ${Object.keys(typed).join(' and ')}`);
  return browser.send(form, typed);
}

function locationOf(sent: Sent): string {
  if ('location' in sent) return sent.location;
  throw new Error(`a sign-in is refused with ${sent.page.status}`);
}

/** The form that acts; after a page that shows what will happen, the one that confirms it. */
function formOf({ forms }: Page, isConfirmation = false): PageForm | undefined {
  const acting = forms.filter(({ hidden }) => hidden['form_id'] !== undefined);
  return acting.find(({ hidden }) => !isConfirmation || hidden['confirmed'] === 'true');
}

function listOf(kind: 'payment-links' | 'virtual-terminals'): string {
  return kind === 'payment-links' ? 'links' : 'counters';
}

function amountText(minor: bigint): string {
  return formatAmount(minor, { style: 'plain' });
}
