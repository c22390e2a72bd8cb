import type { Choices } from './choices.ts';
import type { Dashboard } from './dashboard.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import type { Payers } from './payers.ts';
import type { VirtualClock } from './virtual-clock.ts';

// Until what was paid or paid out at once is booked.
const bookedWithinMs = 8_000;

export interface DeskActsOptions {
  merchants: readonly [MerchantClient, ...MerchantClient[]];
  clock: VirtualClock;
  dashboard: Dashboard | undefined;
  payers: Payers;
  record: (response: MerchantResponse) => MerchantResponse;
  notePayment: (merchant: MerchantClient, response: MerchantResponse) => void;
  noteTransfer: (merchant: MerchantClient, response: MerchantResponse) => void;
  noteRefund: (response: MerchantResponse) => void;
  notePayout: (id: string) => void;
}

/** What the people of the first merchant's business do at the dashboard, beside what desk.ts does in place of its program. */
export class DeskActs {
  readonly #options: DeskActsOptions;

  constructor(options: DeskActsOptions) {
    this.#options = options;
  }

  /** While a worker sends it. */
  async cancelTransfer(choices: Choices, id: string): Promise<void> {
    const { merchants, record, noteTransfer } = this.#options;
    const [merchant] = merchants;
    const payee = { network: choices.pick(['wave', 'aps', 'qmoney']), account_number: '7010001' };
    const body = { amount: 5 + choices.below(20), beneficiary_name: 'Awa Ceesay', ...payee };
    const response = await merchant.send('POST', '/v1/transfers', body, `key ${id}`);
    noteTransfer(merchant, response);
    if (response.status !== 201) return;
    record(await merchant.send('POST', `/v1/transfers/${String(response.body['id'])}/cancel`, {}));
  }

  /** A sub-account that was paid out, and whose payment is then refunded, owes its share; a part of that is waived. */
  async waiveDebt(choices: Choices, id: string): Promise<void> {
    const { merchants, clock, record, notePayment, notePayout, noteRefund } = this.#options;
    const [merchant] = merchants;
    const destination = { settlement_code: 'aps', account_number: '7000001' };
    const sub = { name: 'Awa', percentage: 40, ...destination };
    const created = record(await merchant.send('POST', '/v1/sub-accounts', sub));
    if (created.status !== 201) return;
    const path = `/v1/sub-accounts/${String(created.body['id'])}`;
    const data = { amount: 100, network: 'aps', account_number: '7000001', sub_account: created.body['id'] };
    const paid = await merchant.send('POST', '/v1/payments', { data }, `key ${id} paid`);
    notePayment(merchant, paid);
    await clock.ofMachine().sleep(bookedWithinMs);
    const payout = record(await merchant.send('POST', `${path}/payouts`, {}, `key ${id} payout`));
    if (payout.status === 201) notePayout(String(payout.body['id']));
    const charge = await merchant.send('GET', `/v1/transactions/${String(paid.body['payment_intent_id'])}`);
    const refund = { reference: charge.body['reference'] };
    if (charge.body['status'] === 'completed')
      noteRefund(await merchant.send('POST', '/v1/transactions/refund', refund, `key ${id} refund`));
    await clock.ofMachine().sleep(bookedWithinMs);
    const amount = 1 + choices.below(30);
    record(await merchant.send('POST', `${path}/waive-debt`, { amount }, `key ${id} waived`));
  }

  /** Staff type an amount at a counter's screen, whose code a payer scans. */
  async payAtScreen(choices: Choices): Promise<void> {
    const { merchants, record, dashboard, payers } = this.#options;
    const body = { name: 'Front counter', chat_numbers: ['7012345'] };
    const counter = record(await merchants[0].send('POST', '/v1/virtual-terminals', body));
    if (counter.status !== 201) return;
    const id = await dashboard?.payAtScreen(String(counter.body['id']), choices);
    if (id === undefined) return;
    const { body: payment } = await merchants[0].send('GET', `/v1/payments/${id}`);
    await payers.payRequested(new URL(String(payment['payment_link'])).pathname, choices);
  }

  /** The price of a link, or the name of a counter. */
  async editPage(choices: Choices): Promise<void> {
    const { merchants, record, dashboard } = this.#options;
    const [kind, body] = choices.pick([
      ['payment-links', { data: { title: 'Term fees', amount: 20 } }],
      ['virtual-terminals', { name: 'Front counter', chat_numbers: ['7012345'] }],
    ] as const);
    const page = record(await merchants[0].send('POST', `/v1/${kind}`, body));
    if (page.status === 201) await dashboard?.editPage(kind, String(page.body['id']), choices);
  }
}
