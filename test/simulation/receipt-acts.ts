import { transactionKeyOf } from '../../server/src/receipts/receipt.ts';
import { Choices } from './choices.ts';
import { isLed, type ConsoleOperators } from './console-operators.ts';
import type { Dashboard } from './dashboard.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import type { Operators } from './operators.ts';
import type { ReceiptPayers, ReceiptPayment } from './receipt-payers.ts';
import { tillNetwork, type Till } from './till.ts';

// Few, so that money may be meant for several payments; the last one is above the limit for unconfirmed messages.
const receiptAmounts = [50, 50, 60, 150] as const;
const refundedMax = 40;

export interface ReceiptActsOptions {
  /** The one that has a number of its own. */
  merchant: MerchantClient;
  receiptPayers: ReceiptPayers;
  till: Till;
  operators: Operators;
  dashboard: Dashboard | undefined;
  consoleOperators: ConsoleOperators | undefined;
  businessId: string;
  notePayment: (response: MerchantResponse) => void;
  noteRefund: (response: MerchantResponse) => void;
}

/** What payers, the merchant, its people and an operator do with payments to the shop's own number. */
export class ReceiptActs {
  readonly #paymentIds: string[] = [];
  readonly #options: ReceiptActsOptions;

  constructor(options: ReceiptActsOptions) {
    this.#options = options;
  }

  async pay(choices: Choices, id: string): Promise<void> {
    const count = choices.below(3) === 0 ? 2 : 1;
    const payers = Array.from(
      { length: count },
      (_, index) => [...[`${id} ${index}`, new Choices(`payer ${choices.below(1_000_000)}`)]] as const,
    );
    await Promise.all(
      payers.map(async ([key, payer]) => {
        const payment = await this.#begin(payer.pick(receiptAmounts), key);
        if (payment) await this.#options.receiptPayers.pay(payment, payer);
      }),
    );
  }

  async race(choices: Choices, id: string): Promise<void> {
    const begin = (key: string) => this.#begin(receiptAmounts[0], `${id} ${key}`);
    const payments = [await begin('one'), await begin('other')].filter((payment) => payment !== null);
    await this.#options.receiptPayers.race(payments, choices);
  }

  async take(choices: Choices, id: string): Promise<void> {
    const payment = await this.#begin(choices.pick(receiptAmounts), id);
    if (payment) await this.#options.receiptPayers.take(payment, choices);
  }

  async forge(choices: Choices, id: string): Promise<void> {
    const payment = await this.#begin(choices.pick(receiptAmounts), id);
    if (payment) await this.#options.receiptPayers.forge(payment, choices);
  }

  async walkIn(choices: Choices): Promise<void> {
    const { till } = this.#options;
    await till.forward(till.receive(BigInt(choices.pick(receiptAmounts)) * 100n));
  }

  match(choices: Choices): Promise<unknown> {
    const { operators, merchant } = this.#options;
    return operators.matchReceipt(merchant.merchantId, choices);
  }

  /** The message has arrived; then its payer types the id while somebody of the business decides, and an operator or a second one. */
  async matchByForm(choices: Choices, id: string): Promise<void> {
    const payment = await this.#begin(receiptAmounts[0], id);
    const { receiptPayers, dashboard } = this.#options;
    const money = payment && (await receiptPayers.send(payment));
    if (!money || !dashboard) return;
    const isTyped = choices.below(3) > 0;
    const other = choices.below(2) === 0;
    const [payer, member] = [1, 2].map(() => new Choices(`at once ${choices.below(1_000_000)}`));
    await Promise.all([
      isTyped && payer && receiptPayers.type(payment.path, money.transactionId, payer),
      member && dashboard.matchReceipt(member),
      other ? this.match(choices) : dashboard.matchReceipt(choices),
    ]);
  }

  /** As by form, at the console. */
  async matchAtConsole(choices: Choices, id: string): Promise<void> {
    const payment = await this.#begin(receiptAmounts[0], id);
    const { receiptPayers, consoleOperators, operators, businessId } = this.#options;
    const money = payment && (await receiptPayers.send(payment));
    if (!money || !consoleOperators) return;
    const list = `/operator/businesses/${businessId}/receipts`;
    const { text } = await consoleOperators.open(0, `${list}?environment=test`);
    const proposed = [...text.matchAll(/\/receipts\/(match\?environment=test[^"]*charge=[^"]*)"/g)];
    const [, page] = proposed[choices.below(Math.max(1, proposed.length))] ?? [];
    if (page === undefined) return;
    const path = `${list}/${page.replaceAll('&amp;', '&')}`;
    const payer = new Choices(`at once ${choices.below(1_000_000)}`);
    operators.matchedKeys.add(transactionKeyOf(money.transactionId) ?? '');
    const [sent] = await Promise.all([
      consoleOperators.atOnce(choices, path, {}),
      choices.below(3) > 0 && receiptPayers.type(payment.path, money.transactionId, payer),
    ]);
    const [, receiptId = 'none'] = /receipt=([^&]+)/.exec(path) ?? [];
    const left = await consoleOperators.open(0, `${list}?environment=test`);
    if (sent.some(isLed) && left.text.includes(receiptId))
      throw new Error(`receipt ${receiptId} was said to have paid, and is without a payment`);
  }

  /** Of a payment that is paid: once, or two programs at once. Now and then the merchant has not returned the money. */
  async refund(choices: Choices, id: string): Promise<void> {
    const reference = await this.#findPaid(choices);
    if (reference === null) return;
    const part = choices.below(2) === 0 ? {} : { amount: 1 + choices.below(refundedMax) };
    const body = { reference, ...part, ...(choices.below(5) > 0 ? { money_returned: true } : {}) };
    const { merchant, noteRefund } = this.#options;
    const keys = choices.below(2) === 0 ? [`key ${id}`] : [`key ${id}`, `key ${id} of another`];
    await Promise.all(
      keys.map(async (key) => noteRefund(await merchant.send('POST', '/v1/transactions/refund', body, key))),
    );
  }

  async refundByForm(choices: Choices): Promise<void> {
    const id = this.#paymentIds[choices.below(Math.max(1, this.#paymentIds.length))];
    if (id !== undefined) await this.#options.dashboard?.refund(id, choices);
  }

  async #begin(dalasi: number, key: string): Promise<ReceiptPayment | null> {
    const { merchant, notePayment } = this.#options;
    const data = { amount: dalasi, network: tillNetwork, account_number: '7000001' };
    const response = await merchant.send('POST', '/v1/payments', { data }, `key ${key}`);
    notePayment(response);
    const { status, body } = response;
    if (status !== 201) return null;
    this.#paymentIds.push(String(body['payment_intent_id']));
    return { path: new URL(String(body['payment_link'])).pathname, amountMinor: BigInt(dalasi) * 100n };
  }

  /** The reference of one that is paid. */
  async #findPaid(choices: Choices): Promise<string | null> {
    const first = choices.below(Math.max(1, this.#paymentIds.length));
    for (const id of [...this.#paymentIds.slice(first), ...this.#paymentIds.slice(0, first)]) {
      const { body } = await this.#options.merchant.send('GET', `/v1/transactions/${id}`);
      if (body['status'] === 'completed') return String(body['reference']);
    }
    return null;
  }
}
