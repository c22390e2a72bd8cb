import type { Choices } from './choices.ts';
import type { Dashboard } from './dashboard.ts';
import type { Known } from './known.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import type { Payers } from './payers.ts';

const linkPriceMax = 300;

/** A link or counter. */
interface CollectingPage extends Known {
  kind: 'payment-links' | 'virtual-terminals';
  path: string;
}

export interface PageActsOptions {
  merchants: readonly [MerchantClient, ...MerchantClient[]];
  payers: Payers;
  /** Where the people of the first merchant's business are signed in to it. */
  dashboard: Dashboard | undefined;
  subAccounts: readonly Known[];
  record: (response: MerchantResponse) => MerchantResponse;
}

/** What programs and people do with links and counters, and who pays at their pages. */
export class PageActs {
  readonly #pages: CollectingPage[] = [];
  readonly #options: PageActsOptions;

  constructor(options: PageActsOptions) {
    this.#options = options;
  }

  async openLink(choices: Choices): Promise<void> {
    const { record, subAccounts } = this.#options;
    const merchant = choices.pick(this.#options.merchants);
    const subs = subAccounts.filter((sub) => sub.merchant === merchant);
    const sub = subs[choices.below(Math.max(1, subs.length))];
    const price = choices.below(2) === 0 ? { amount: priceOf(choices) } : { min_amount: 2 };
    const shared = sub && choices.below(2) === 0 ? { sub_account: sub.id } : {};
    const data = { title: 'Term fees', custom_fields: ['Student'], ...price, ...shared };
    const { status, body } = record(await merchant.send('POST', '/v1/payment-links', { data }));
    if (status === 201) this.#note(merchant, 'payment-links', body);
  }

  async openCounter(choices: Choices): Promise<void> {
    const merchant = choices.pick(this.#options.merchants);
    const body = { name: 'Front counter', chat_numbers: ['7012345'] };
    const response = this.#options.record(await merchant.send('POST', '/v1/virtual-terminals', body));
    if (response.status === 201) this.#note(merchant, 'virtual-terminals', response.body);
  }

  async change(choices: Choices): Promise<void> {
    const page = this.#choose(this.#pages, choices);
    if (!page) return;
    const isOn = choices.below(3) > 0;
    const isLink = page.kind === 'payment-links';
    const change = isLink ? { status: isOn ? 'active' : 'inactive', title: 'Fees' } : { active: isOn };
    this.#options.record(await page.merchant.send('PUT', `/v1/${page.kind}/${page.id}`, change));
  }

  async delete(choices: Choices): Promise<void> {
    const page = this.#choose(this.#pages, choices);
    if (!page) return;
    const { status } = this.#options.record(await page.merchant.send('DELETE', `/v1/${page.kind}/${page.id}`));
    if (status === 200) await this.#options.payers.findClosed(page.path);
  }

  async pay(choices: Choices): Promise<void> {
    const page = this.#choose(this.#pages, choices);
    if (page) await this.#options.payers.pay(page.path, choices);
  }

  /** Somebody of the business opens a link or counter at the dashboard, and somebody pays there. */
  async openByForm(choices: Choices): Promise<void> {
    const { dashboard, merchants } = this.#options;
    const [merchant] = merchants;
    const kind = choices.pick(['payment-links', 'virtual-terminals'] as const);
    const id = await (kind === 'payment-links' ? dashboard?.openLink(choices) : dashboard?.openCounter(choices));
    if (id === undefined) return;
    const { body } = await merchant.send('GET', `/v1/${kind}/${id}`);
    await this.#options.payers.pay(this.#note(merchant, kind, body).path, choices);
  }

  async switchByForm(choices: Choices): Promise<void> {
    const page = this.#choose(this.#ofBusiness(), choices);
    if (page) await this.#options.dashboard?.switchPage(page.kind, page.id, choices);
  }

  async deleteByForm(choices: Choices): Promise<void> {
    const page = this.#choose(this.#ofBusiness(), choices);
    const isDeleted = page && (await this.#options.dashboard?.deletePage(page.kind, page.id, choices));
    if (isDeleted === true) await this.#options.payers.findClosed(page.path);
  }

  /** Somebody of the business asks for a payment at the dashboard, and whoever has its address pays. */
  async requestByForm(choices: Choices): Promise<void> {
    const { dashboard, merchants, payers } = this.#options;
    const [merchant] = merchants;
    const id = await dashboard?.requestPayment(choices);
    if (id === undefined) return;
    const { body } = await merchant.send('GET', `/v1/payments/${id}`);
    await payers.payRequested(new URL(String(body['payment_link'])).pathname, choices);
  }

  #note(merchant: MerchantClient, kind: CollectingPage['kind'], body: MerchantResponse['body']): CollectingPage {
    const address = new URL(String(kind === 'payment-links' ? body['url'] : body['qr_code_url']));
    const page = { merchant, kind, id: String(body['id']), path: address.pathname };
    this.#pages.push(page);
    return page;
  }

  #ofBusiness(): CollectingPage[] {
    return this.#pages.filter(({ merchant }) => merchant === this.#options.merchants[0]);
  }

  #choose(pages: readonly CollectingPage[], choices: Choices): CollectingPage | undefined {
    return pages[choices.below(Math.max(1, pages.length))];
  }
}

function priceOf(choices: Choices): number {
  return (100 + choices.below(linkPriceMax * 100 - 100)) / 100;
}
