import type { Database } from '../../server/src/kit/db.ts';
import type { Choices } from './choices.ts';
import type { Known } from './known.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import { addedPath, receiverUrl, type Receivers } from './receivers.ts';

const membersMax = 3;
// Of the kinds that most runs have, and every one.
const subscriptions = [
  ['*'],
  ['*'],
  ['charge.succeeded'],
  ['charge.failed', 'transfer.succeeded', 'transfer.failed'],
  ['charge.succeeded', 'transfer.created', 'transfer.failed'],
] as const;
const paidNetworks = ['wave', 'aps', 'qmoney'] as const;

/** An endpoint that a merchant has added to the one that it had from the start. */
export interface AddedEndpoint {
  merchant: MerchantClient;
  id: string;
  path: string;
  /** The merchant's events that were there when the service said that it is added: it need not get those. */
  before: ReadonlySet<string>;
  isOn: boolean;
}

/** A payment and its shares, as the service said when it was created. */
export interface SharedPayment {
  merchant: MerchantClient;
  id: string;
  shares: readonly { subAccountId: string; amount: number; percentage: number }[];
  /** The percentages that its group or sub-account had, one after the other, each as text. */
  versions: readonly string[];
}

interface Group extends Known {
  members: readonly string[];
  versions: string[];
}

export interface MerchantSettingsOptions {
  merchants: readonly [MerchantClient, ...MerchantClient[]];
  receivers: Receivers;
  subAccounts: readonly Known[];
  /** Reads past the service. */
  db: Database;
  waitForStep: (label: string) => Promise<void>;
  record: (response: MerchantResponse) => MerchantResponse;
  notePayment: (merchant: MerchantClient, response: MerchantResponse) => void;
}

/** What merchants change of their endpoints and splits while events and money flow. */
export class MerchantSettings {
  readonly endpoints: AddedEndpoint[] = [];
  readonly payments: SharedPayment[] = [];
  readonly #groups: Group[] = [];
  // Of two changes at once, a merchant does not know which one is the newer.
  readonly #changing = new Set<string>();
  readonly #options: MerchantSettingsOptions;
  #addedCount = 0;

  constructor(options: MerchantSettingsOptions) {
    this.#options = options;
  }

  async addEndpoint(choices: Choices, id: string): Promise<void> {
    const { merchants, receivers, record } = this.#options;
    const merchant = choices.pick(merchants);
    const path = addedPath(merchant.shortId, (this.#addedCount += 1));
    // Of what comes before the merchant has the secret, it cannot know whose it is.
    receivers.learnAt(path, '');
    const kinds = choices.pick(subscriptions);
    const body = { url: `${receiverUrl}${path}`, enabled_events: kinds };
    const { status, body: created } = record(await merchant.send('POST', '/v1/webhook-endpoints', body, `key ${id}`));
    if (status !== 201) return;
    receivers.learnAt(path, String(created['secret']));
    const before = await this.#listEvents(merchant);
    this.endpoints.push({ merchant, id: String(created['id']), path, before, isOn: true });
  }

  /** Off, for some seconds that belong to other acts, or on again; then everything is sent that it has missed. */
  async switchEndpoint(choices: Choices): Promise<void> {
    const endpoint = this.endpoints[choices.below(Math.max(1, this.endpoints.length))];
    if (!endpoint) return;
    await this.#alone(endpoint.id, () => (endpoint.isOn ? this.#set(endpoint, 'disabled') : this.#switchOn(endpoint)));
  }

  /** Other kinds from now on; what is planned already stays so. */
  async changeKinds(choices: Choices): Promise<void> {
    const endpoint = this.endpoints[choices.below(Math.max(1, this.endpoints.length))];
    if (endpoint) await this.#changeKinds(endpoint, choices);
  }

  /** Of every endpoint. */
  async changeAllKinds(choices: Choices): Promise<void> {
    for (const endpoint of this.endpoints) await this.#changeKinds(endpoint, choices);
  }

  async #changeKinds({ merchant, id }: AddedEndpoint, choices: Choices): Promise<void> {
    const body = { enabled_events: choices.pick(subscriptions) };
    this.#options.record(await merchant.send('PUT', `/v1/webhook-endpoints/${id}`, body));
  }

  /** What is still off is switched on, which its merchant does at last. */
  async switchAllOn(): Promise<void> {
    for (const endpoint of this.endpoints) if (!endpoint.isOn) await this.#switchOn(endpoint);
  }

  async rotateSecret(choices: Choices, id: string): Promise<void> {
    const endpoint = this.endpoints[choices.below(Math.max(1, this.endpoints.length))];
    if (!endpoint) return;
    await this.#alone(endpoint.id, async () => {
      const path = `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`;
      const body = { overlap_hours: choices.pick([0, 1]) };
      const response = this.#options.record(await endpoint.merchant.send('POST', path, body, `key ${id}`));
      if (response.status === 200) this.#options.receivers.learnAt(endpoint.path, String(response.body['secret']));
    });
  }

  async openGroup(choices: Choices, id: string): Promise<void> {
    const subs = this.#membersOf(choices.pick(this.#options.merchants), choices);
    const [first] = subs;
    if (!first) return;
    const { merchant } = first;
    const members = membersWith(
      subs.map((sub) => sub.id),
      choices,
    );
    const body = { name: 'Family', members };
    const response = this.#options.record(await merchant.send('POST', '/v1/sub-account-groups', body, `key ${id}`));
    if (response.status !== 201) return;
    const group = { merchant, id: String(response.body['id']), members: subs.map((sub) => sub.id) };
    this.#groups.push({ ...group, versions: [percentagesOf(members)] });
  }

  /** Other percentages; payments that there are keep theirs. */
  async changeGroup(choices: Choices): Promise<void> {
    const group = this.#groups[choices.below(Math.max(1, this.#groups.length))];
    if (!group) return;
    const members = membersWith(group.members, choices);
    // Known before it is sent: from then on a payment may have it.
    group.versions.push(percentagesOf(members));
    const path = `/v1/sub-account-groups/${group.id}`;
    this.#options.record(await group.merchant.send('PUT', path, { members }));
  }

  /** No payment names it from then on. */
  async deleteGroup(choices: Choices, id: string): Promise<void> {
    if (this.#groups.length === 0) await this.openGroup(choices, `${id} group`);
    const [group] = this.#groups.splice(choices.below(Math.max(1, this.#groups.length)), 1);
    if (!group) return;
    const { merchant } = group;
    const { record, notePayment } = this.#options;
    const { status } = record(await merchant.send('DELETE', `/v1/sub-account-groups/${group.id}`));
    if (status !== 200) return;
    const data = { amount: 100, network: 'aps', account_number: '7000001', sub_account_group: group.id };
    const response = await merchant.send('POST', '/v1/payments', { data }, `key ${id}`);
    notePayment(merchant, response);
    if (response.status === 201) throw new Error(`a payment names ${group.id}, which was deleted`);
  }

  /** Its receiver gets an event that is about nothing, or one once more; now and then the overlap of its secrets ends. */
  async testEndpoint(choices: Choices): Promise<void> {
    const endpoint = this.endpoints[choices.below(Math.max(1, this.endpoints.length))];
    if (!endpoint) return;
    const { merchant, id } = endpoint;
    const events = [...(await this.#listEvents(merchant))];
    const path = choices.pick([
      `/v1/webhook-endpoints/${id}/test`,
      `/v1/webhook-endpoints/${id}/end-overlap`,
      `/v1/events/${events[choices.below(Math.max(1, events.length))] ?? id}/resend`,
    ]);
    this.#options.record(await merchant.send('POST', path, {}));
  }

  /** Two payments at once, of which one may have the percentages that a change at the same time brings. */
  async payGroup(choices: Choices, id: string): Promise<void> {
    if (this.#groups.length === 0) await this.openGroup(choices, `${id} group`);
    const group = this.#groups[choices.below(Math.max(1, this.#groups.length))];
    if (!group) return;
    const change = choices.below(2) === 0 ? this.changeGroup(choices) : undefined;
    const paid = ['one', 'other'].map((which) => {
      const data = {
        ...{ amount: 100 + choices.below(300), network: choices.pick(paidNetworks), account_number: '7010001' },
        sub_account_group: group.id,
      };
      return this.#pay(group, data, `key ${id} ${which}`);
    });
    await Promise.all([change, ...paid]);
  }

  async #pay({ merchant, versions }: Group, data: Record<string, unknown>, key: string): Promise<void> {
    const response = await merchant.send('POST', '/v1/payments', { data }, key);
    this.#options.notePayment(merchant, response);
    if (response.status !== 201) return;
    const id = String(response.body['payment_intent_id']);
    const { body } = await merchant.send('GET', `/v1/payments/${id}`);
    const shown = body['shares'] as { sub_account: string; amount: number; percentage: number }[];
    const shares = shown.map(({ sub_account: subAccountId, ...share }) => ({ subAccountId, ...share }));
    this.payments.push({ merchant, id, shares, versions });
  }

  async #switchOn(endpoint: AddedEndpoint): Promise<void> {
    await this.#set(endpoint, 'enabled');
    const resend = { endpoint_id: endpoint.id };
    this.#options.record(await endpoint.merchant.send('POST', '/v1/events/resend', resend));
  }

  async #set(endpoint: AddedEndpoint, status: 'enabled' | 'disabled'): Promise<void> {
    const { merchant, id } = endpoint;
    const response = this.#options.record(await merchant.send('PUT', `/v1/webhook-endpoints/${id}`, { status }));
    if (response.status === 200) endpoint.isOn = status === 'enabled';
  }

  async #alone(id: string, body: () => Promise<void>): Promise<void> {
    if (this.#changing.has(id)) return;
    this.#changing.add(id);
    try {
      await body();
    } finally {
      this.#changing.delete(id);
    }
  }

  #membersOf(merchant: MerchantClient, choices: Choices): Known[] {
    const own = this.#options.subAccounts.filter((sub) => sub.merchant === merchant);
    const others = own.length > 0 ? own : this.#options.subAccounts;
    const [first] = others;
    const ofOne = others.filter((sub) => sub.merchant === first?.merchant);
    return ofOne.slice(0, 1 + choices.below(membersMax));
  }

  async #listEvents({ merchantId }: MerchantClient): Promise<ReadonlySet<string>> {
    await this.#options.waitForStep('a merchant looks at its events');
    const rows = await this.#options.db.rows<{ id: string }>({
      name: 'simulation_events_of_merchant',
      text: 'SELECT id FROM events WHERE merchant_id = $1 ORDER BY id',
      values: [merchantId],
    });
    return new Set(rows.map(({ id }) => id));
  }
}

function membersWith(ids: readonly string[], choices: Choices): { sub_account: string; percentage: number }[] {
  return ids.map((id) => ({ sub_account: id, percentage: 1 + choices.below(Math.floor(100 / membersMax)) }));
}

export function percentagesOf(members: readonly { percentage: number }[]): string {
  return members.map(({ percentage }) => percentage).join();
}
