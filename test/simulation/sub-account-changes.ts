import type { Choices } from './choices.ts';
import { History } from './history.ts';
import type { Known } from './known.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import type { SharedPayment } from './merchant-settings.ts';

const fields = ['name', 'percentage', 'active', 'destination'] as const;
type Field = (typeof fields)[number];
const destinations = ['wave 7010001', 'aps 7020001', 'qmoney 7030009', 'afrimoney 7040012'] as const;
const paidNetworks = ['wave', 'aps', 'qmoney'] as const;
// One in so many changes of whether it takes part in payments pauses it.
const pausesShare = 3;

/** A sub-account and what its merchant has set of it. */
export interface ChangedSubAccount extends Known {
  fields: Readonly<Record<Field, History>>;
}

/** A payout that a merchant has requested, and what its sub-account may have had then. */
export interface RequestedPayout {
  id: string;
  names: readonly string[];
  destinations: readonly string[];
}

export interface SubAccountChangesOptions {
  /** Whether a request may arrive once more, long after its response. */
  hasDoubledRequests: boolean;
  record: (response: MerchantResponse) => MerchantResponse;
  notePayment: (merchant: MerchantClient, response: MerchantResponse) => void;
}

/** What merchants change of their sub-accounts while payments are shared with them and their balances are paid out. */
export class SubAccountChanges {
  readonly subAccounts: ChangedSubAccount[] = [];
  readonly payments: SharedPayment[] = [];
  readonly payouts: RequestedPayout[] = [];
  readonly #options: SubAccountChangesOptions;
  #names = 0;

  constructor(options: SubAccountChangesOptions) {
    this.#options = options;
  }

  /** As the service said when it was created. */
  add(known: Known, body: MerchantResponse['body']): void {
    const { hasDoubledRequests } = this.#options;
    const of = (value: unknown) => new History(String(value), hasDoubledRequests);
    const { name, percentage, active, settlement_code: network, account_number: number } = body;
    const first = { name: of(name), percentage: of(percentage), active: of(active) };
    this.subAccounts.push({ ...known, fields: { ...first, destination: of(`${String(network)} ${String(number)}`) } });
  }

  /** One of its fields, or two by two people at once: each holds then. */
  async change(choices: Choices): Promise<void> {
    const sub = this.#choose(choices);
    if (!sub) return;
    const first = choices.below(fields.length);
    const second = (first + 1 + choices.below(fields.length - 1)) % fields.length;
    const chosen = choices.below(2) === 0 ? [first] : [first, second];
    await Promise.all(chosen.map((index) => this.#set(sub, fields[index] ?? 'name', choices)));
  }

  /** Two payments that name one sub-account, beside a change of it now and then. */
  async pay(choices: Choices, id: string): Promise<void> {
    const sub = this.#choose(choices);
    if (!sub) return;
    const field = choices.pick(['percentage', 'active'] as const);
    const change = choices.below(2) === 0 ? this.#set(sub, field, choices) : undefined;
    const paid = ['one', 'other'].map((which) => {
      const network = choices.pick(paidNetworks);
      const data = { amount: 100 + choices.below(300), network, account_number: '7010001', sub_account: sub.id };
      return this.#pay(sub, data, `key ${id} ${which}`);
    });
    await Promise.all([change, ...paid]);
  }

  /** Of a payout that is about to be requested; what this returns is called with its id. */
  beginPayout({ id: subAccountId }: Known): (id: string) => void {
    const sub = this.subAccounts.find(({ id }) => id === subAccountId);
    const [names, destinationsOf] = [sub?.fields.name.beginReading(), sub?.fields.destination.beginReading()];
    return (id) => {
      if (names && destinationsOf) this.payouts.push({ id, names: names(), destinations: destinationsOf() });
    };
  }

  async #pay(sub: ChangedSubAccount, data: Record<string, unknown>, key: string): Promise<void> {
    const { merchant } = sub;
    const [percentages, states] = [sub.fields.percentage.beginReading(), sub.fields.active.beginReading()];
    const response = await merchant.send('POST', '/v1/payments', { data }, key);
    const [versions, active] = [percentages(), states()];
    this.#options.notePayment(merchant, response);
    const { status, body } = response;
    if (body['code'] === 'sub_account_paused' && !active.includes('false'))
      throw new Error(`a payment is refused because ${sub.id} is paused, which it is not`);
    if (status !== 201) return;
    if (!active.includes('true')) throw new Error(`a payment names ${sub.id}, which is paused`);
    const id = String(body['payment_intent_id']);
    const { body: payment } = await merchant.send('GET', `/v1/payments/${id}`);
    const shown = payment['shares'] as { sub_account: string; amount: number; percentage: number }[];
    const shares = shown.map(({ sub_account: subAccountId, ...share }) => ({ subAccountId, ...share }));
    this.payments.push({ merchant, id, shares, versions });
  }

  async #set(sub: ChangedSubAccount, field: Field, choices: Choices): Promise<void> {
    const history = sub.fields[field];
    const value = this.#valueOf(field, choices);
    // Of two changes of one field at once, a merchant does not know which one is the newer.
    if (!history.beginChange(value)) return;
    const { record } = this.#options;
    const { status } = record(await sub.merchant.send('PUT', `/v1/sub-accounts/${sub.id}`, bodyOf(field, value)));
    history.endChange(status === 200);
  }

  #valueOf(field: Field, choices: Choices): string {
    this.#names += 1;
    if (field === 'name') return `Awa ${this.#names}`;
    if (field === 'percentage') return String(1 + choices.below(60));
    return field === 'active' ? String(choices.below(pausesShare) > 0) : choices.pick(destinations);
  }

  #choose(choices: Choices): ChangedSubAccount | undefined {
    return this.subAccounts[choices.below(Math.max(1, this.subAccounts.length))];
  }
}

function bodyOf(field: Field, value: string): Record<string, unknown> {
  const [network, number] = value.split(' ');
  if (field === 'destination') return { settlement_code: network, account_number: number };
  if (field === 'percentage') return { percentage: Number(value) };
  return field === 'active' ? { active: value === 'true' } : { name: value };
}
