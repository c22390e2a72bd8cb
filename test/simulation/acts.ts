import type { Database } from '../../server/src/kit/db.ts';
import { Choices } from './choices.ts';
import type { ConsoleActs } from './console-acts.ts';
import type { ConsoleOperators } from './console-operators.ts';
import type { Dashboard } from './dashboard.ts';
import { DeskActs } from './desk-acts.ts';
import type { Known } from './known.ts';
import { MerchantSettings } from './merchant-settings.ts';
import type { MerchantClient, MerchantResponse } from './merchant-client.ts';
import type { NetworkPauses } from './network-pauses.ts';
import type { Networks } from './networks.ts';
import type { Operators } from './operators.ts';
import type { Oversight } from './oversight.ts';
import { amount, digits, networks, payeeEndings, payerEndings, transferBody } from './orders.ts';
import { PageActs } from './page-acts.ts';
import type { Payers } from './payers.ts';
import { ReceiptActs } from './receipt-acts.ts';
import type { ReceiptPayers } from './receipt-payers.ts';
import type { Receivers } from './receivers.ts';
import type { ActKind } from './kinds.ts';
import type { Act } from './plan.ts';
import { SubAccountChanges } from './sub-account-changes.ts';
import type { Team } from './team.ts';
import type { Till } from './till.ts';
import type { Upkeep } from './upkeep.ts';
import type { VirtualClock } from './virtual-clock.ts';

// More than the failures in a row that open a merchant's circuit breaker, once some of them were sent again.
const paydayTransfers = 3;

const sharesMax = 3;

export interface ActsOptions {
  merchants: readonly [MerchantClient, ...MerchantClient[]];
  networks: Networks;
  operators: Operators;
  upkeep: Upkeep;
  networkPauses: NetworkPauses;
  payers: Payers;
  receiptPayers: ReceiptPayers;
  till: Till;
  receivers: Receivers;
  /** Where the people of the first merchant's business are signed in to it. */
  dashboard: Dashboard | undefined;
  consoleOperators: ConsoleOperators | undefined;
  team: Team | undefined;
  oversight: Oversight | undefined;
  consoleActs: ConsoleActs | undefined;
  clock: VirtualClock;
  /** Of the first merchant. */
  businessId: string;
  /** Whether a request may arrive once more, long after its response. */
  hasDoubledRequests: boolean;
  /** A merchant whose receiver was off brings it back, and switches its endpoint on. */
  switchOn: (merchant: MerchantClient) => Promise<void>;
  /** A merchant was shown the new secret of its endpoint. */
  learnSecret: (shortId: string, secret: string) => void;
  /** Reads past the service. */
  db: Database;
  waitForStep: (label: string) => Promise<void>;
  note: (text: string) => void;
}

/** What merchants, payers and operators do. */
export class Acts {
  readonly payments: Known[] = [];
  readonly transfers: Known[] = [];
  readonly subAccounts: Known[] = [];
  /** The payouts of sub-accounts that merchants have requested themselves. */
  readonly payouts: string[] = [];
  readonly refunds: string[] = [];
  readonly refused: string[] = [];
  // Of two rotations at once, a merchant does not know which secret is the newer one.
  readonly #rotating = new Set<MerchantClient>();
  readonly #options: ActsOptions;
  readonly #receipts: ReceiptActs;
  readonly #desk: DeskActs;
  readonly settings: MerchantSettings;
  readonly subAccountChanges: SubAccountChanges;
  readonly pages: PageActs;

  constructor(options: ActsOptions) {
    this.#options = options;
    const [merchant] = options.merchants;
    const notePayment = (response: MerchantResponse) => this.#notePayment(merchant, response);
    const noteRefund = (response: MerchantResponse) => this.#noteRefund(response);
    this.settings = new MerchantSettings({
      ...{ ...options, subAccounts: this.subAccounts, record: (response) => this.record(response) },
      notePayment: (of, response) => this.#notePayment(of, response),
    });
    this.subAccountChanges = new SubAccountChanges({
      ...{ hasDoubledRequests: options.hasDoubledRequests, record: (response) => this.record(response) },
      notePayment: (of, response) => this.#notePayment(of, response),
    });
    this.pages = new PageActs({
      ...{ ...options, subAccounts: this.subAccounts, record: (response) => this.record(response) },
    });
    this.#receipts = new ReceiptActs({ ...options, merchant, notePayment, noteRefund });
    this.#desk = new DeskActs({
      ...{
        ...options,
        noteRefund,
        notePayout: (id) => this.payouts.push(id),
        record: (response) => this.record(response),
      },
      notePayment: (of, response) => this.#notePayment(of, response),
      noteTransfer: (of, response) => this.#noteTransfer(of, response),
    });
  }

  async run({ id, kind, choice }: Act): Promise<void> {
    const choices = new Choices(choice);
    this.#options.note(`  act ${id}: ${kind}`);
    await this.#actions[kind](choices, id);
  }

  readonly #actions: Record<ActKind, (choices: Choices, id: string) => Promise<unknown>> = {
    collect: async (choices, id) => {
      const merchant = this.#merchant(choices);
      const sub = this.#ofMerchant(this.subAccounts, merchant, choices);
      const data = {
        amount: amount(choices, 400),
        network: choices.pick(networks),
        account_number: `7${digits(choices)}${choices.pick(payerEndings)}`,
        ...(sub && choices.below(2) === 0 ? { sub_account: sub.id } : {}),
      };
      this.#notePayment(merchant, await merchant.send('POST', '/v1/payments', { data }, `key ${id}`));
    },
    phone: async (choices) => {
      const action = choices.pick(['approve', 'approve', 'approve', 'decline', 'approve_late'] as const);
      await this.#options.waitForStep(`phone ${action}`);
      const sessions = await this.#options.db.rows<{ id: string }>({
        name: 'simulation_open_sessions',
        text: `SELECT id FROM simulator.sessions WHERE payer_number LIKE '%1234' OR status = 'failed' ORDER BY id`,
        values: [],
      });
      const session = sessions[choices.below(Math.max(1, sessions.length))];
      if (session) await this.#options.networks.act(session.id, action);
    },
    cancel: async (choices) => {
      const payment = this.#known(this.payments, choices);
      if (payment) this.record(await payment.merchant.send('POST', `/v1/payments/${payment.id}/cancel`, {}));
    },
    refund: async (choices, id) => {
      const payment = this.#known(this.payments, choices);
      if (!payment) return;
      const { merchant } = payment;
      const charge = await merchant.send('GET', `/v1/transactions/${payment.id}`);
      if (charge.body['status'] !== 'completed') return;
      const part = choices.below(2) === 0 ? {} : { amount: amount(choices, 100) };
      const body = { reference: charge.body['reference'], ...part };
      this.#noteRefund(await merchant.send('POST', '/v1/transactions/refund', body, `key ${id}`));
    },
    transfer: async (choices, id) => {
      const merchant = this.#merchant(choices);
      this.#noteTransfer(merchant, await merchant.send('POST', '/v1/transfers', transferBody(choices), `key ${id}`));
    },
    // Two servers of a merchant with the same order, as after a restart.
    doubled_transfer: async (choices, id) => {
      const merchant = this.#merchant(choices);
      const body = transferBody(choices);
      const send = () => merchant.send('POST', '/v1/transfers', body, `key ${id}`);
      const [one, other] = await Promise.all([send(), send()]);
      if (one.status === 201 && other.status === 201 && one.text !== other.text)
        throw new Error(`one key, two responses: ${one.text} and ${other.text}`);
      this.#noteTransfer(merchant, one);
    },
    sub_account: (choices) => this.#createSubAccount(choices),
    decide: (choices) => this.#options.operators.decide(choices),
    change_rules: (choices) => this.#options.operators.changeRules(this.#merchant(choices).merchantId, choices),
    suspend: (choices) => this.#options.operators.suspend(this.#merchant(choices).merchantId),
    pause_account: (choices) => this.#options.upkeep.pauseAccount(choices),
    pause_network: (choices) => this.#options.networkPauses.pause(choices),
    rotate_account: () => this.#options.upkeep.rotateAccount(),
    rotate_seal_key: () => this.#options.upkeep.rotateSealKey(),
    rotate_webhook_secret: async (choices, id) => {
      const merchant = this.#merchant(choices);
      const body = { overlap_hours: choices.pick([0, 1, 24]) };
      if (this.#rotating.has(merchant)) return;
      this.#rotating.add(merchant);
      const path = `/v1/webhook-endpoints/${merchant.endpointId}/rotate-secret`;
      const response = this.record(await merchant.send('POST', path, body, `key ${id}`));
      if (response.status === 200) this.#options.learnSecret(merchant.shortId, String(response.body['secret']));
      this.#rotating.delete(merchant);
    },
    pay_out: async (choices, id) => {
      const sub = this.#known(this.subAccounts, choices);
      if (!sub) return;
      const path = `/v1/sub-accounts/${sub.id}/payouts`;
      const notePayout = this.subAccountChanges.beginPayout(sub);
      const { status, body } = this.record(await sub.merchant.send('POST', path, {}, `key ${id}`));
      if (status !== 201) return;
      this.payouts.push(String(body['id']));
      notePayout(String(body['id']));
    },
    payday: async (choices, id) => {
      const merchant = this.#merchant(choices);
      const orders = Array.from(
        { length: paydayTransfers },
        (_, index) => [transferBody(choices), `key ${id} ${index}`] as const,
      );
      await Promise.all(
        orders.map(async ([body, key]) =>
          this.#noteTransfer(merchant, await merchant.send('POST', '/v1/transfers', body, key)),
        ),
      );
    },
    settle: (choices) => this.#options.operators.settle(this.#withSubAccounts(choices).merchantId),
    schedule_payouts: (choices) =>
      this.#options.operators.schedulePayouts(this.#withSubAccounts(choices).merchantId, choices),
    // With a payment under way that pays although it is cancelled: only Wave can cancel a prompt.
    delete_sub_account: async (choices, id) => {
      const isOfThisAct = choices.below(3) > 0;
      const sub = isOfThisAct ? await this.#createSubAccount(choices) : this.#known(this.subAccounts, choices);
      if (!sub) return;
      const network = choices.pick(['afrimoney', 'qmoney', 'aps']);
      const data = { amount: 300, network, account_number: `7${digits(choices)}0005`, sub_account: sub.id };
      this.#notePayment(sub.merchant, await sub.merchant.send('POST', '/v1/payments', { data }, `key ${id}`));
      await this.#deleteSubAccount(sub);
    },
    switch_on: (choices) => this.#options.switchOn(this.#merchant(choices)),
    open_link: (choices) => this.pages.openLink(choices),
    open_counter: (choices) => this.pages.openCounter(choices),
    change_page: (choices) => this.pages.change(choices),
    delete_page: (choices) => this.pages.delete(choices),
    pay_at_page: (choices) => this.pages.pay(choices),
    open_page_by_form: (choices) => this.pages.openByForm(choices),
    switch_page_by_form: (choices) => this.pages.switchByForm(choices),
    delete_page_by_form: (choices) => this.pages.deleteByForm(choices),
    request_by_form: (choices) => this.pages.requestByForm(choices),
    pay_by_receipt: (choices, id) => this.#receipts.pay(choices, id),
    race_for_receipt: (choices, id) => this.#receipts.race(choices, id),
    take_receipt: (choices, id) => this.#receipts.take(choices, id),
    forge_message: (choices, id) => this.#receipts.forge(choices, id),
    walk_in: (choices) => this.#receipts.walkIn(choices),
    match_receipt: (choices) => this.#receipts.match(choices),
    refund_receipt: (choices, id) => this.#receipts.refund(choices, id),
    match_by_form: (choices, id) => this.#receipts.matchByForm(choices, id),
    refund_receipt_by_form: (choices) => this.#receipts.refundByForm(choices),
    refund_by_form: async (choices) => {
      const payment = this.#ofMerchant(this.payments, this.#options.merchants[0], choices);
      if (payment) await this.#options.dashboard?.refund(payment.id, choices);
    },
    pay_out_by_form: async (choices) => this.#options.dashboard?.payOut(choices),
    pay_sub_account_by_form: async (choices) => {
      const sub = this.#ofMerchant(this.subAccounts, this.#options.merchants[0], choices);
      if (sub) await this.#options.dashboard?.payOutSubAccount(sub.id, choices);
    },
    add_endpoint: (choices, id) => this.settings.addEndpoint(choices, id),
    switch_endpoint: (choices) => this.settings.switchEndpoint(choices),
    rotate_added_secret: (choices, id) => this.settings.rotateSecret(choices, id),
    change_kinds: (choices) => this.settings.changeKinds(choices),
    open_group: (choices, id) => this.settings.openGroup(choices, id),
    change_group: (choices) => this.settings.changeGroup(choices),
    pay_group: (choices, id) => this.settings.payGroup(choices, id),
    change_sub_account: (choices) => this.subAccountChanges.change(choices),
    pay_shared: (choices, id) => this.subAccountChanges.pay(choices, id),
    decide_at_console: async (choices) => this.#options.consoleOperators?.decide(choices),
    roll_key: async (choices) => this.#options.team?.rollKey(choices),
    change_role: async (choices) => this.#options.team?.changeRole(choices),
    remove_member: async (choices) => this.#options.team?.removeMember(choices),
    suspend_at_console: async (choices) => this.#options.oversight?.suspend(choices),
    pause_at_console: async (choices) => this.#options.oversight?.pauseAccount(choices),
    terms_at_console: async (choices) => this.#options.consoleActs?.terms(choices),
    settle_at_console: async (choices) => this.#options.consoleActs?.settle(choices),
    account_at_console: async (choices) => this.#options.consoleActs?.changeAccount(choices),
    business_at_console: async (choices) => this.#options.consoleActs?.openBusiness(choices),
    keys_at_console: async (choices) => this.#options.consoleActs?.changeKeys(choices),
    match_at_console: (choices, id) => this.#receipts.matchAtConsole(choices, id),
    decide_by_form: async (choices) => this.#options.dashboard?.decide(choices),
    settings_by_form: async (choices) => this.#options.dashboard?.changeSetting(choices),
    edit_page: (choices) => this.#desk.editPage(choices),
    pay_at_screen: (choices) => this.#desk.payAtScreen(choices),
    cancel_transfer: (choices, id) => this.#desk.cancelTransfer(choices, id),
    waive_debt: (choices, id) => this.#desk.waiveDebt(choices, id),
    delete_group: (choices, id) => this.settings.deleteGroup(choices, id),
    test_endpoint: (choices) => this.settings.testEndpoint(choices),
  };

  /** A payment that is paid at once. */
  async collectFor(merchant: MerchantClient): Promise<void> {
    const data = { amount: 50, network: 'aps', account_number: '7000001' };
    this.#notePayment(merchant, await merchant.send('POST', '/v1/payments', { data }, 'key of one more'));
  }

  /** A payment that is paid, one that fails, and a payout of each merchant. */
  async moveMoney(label: string): Promise<void> {
    for (const [index, merchant] of this.#options.merchants.entries()) {
      const key = (what: string) => `key of ${what} ${index} ${label}`;
      for (const number of ['7000001', '7000003']) {
        const data = { amount: 50, network: 'aps', account_number: number };
        this.#notePayment(merchant, await merchant.send('POST', '/v1/payments', { data }, key(number)));
      }
      const payee = { amount: 5, network: 'aps', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
      this.#noteTransfer(merchant, await merchant.send('POST', '/v1/transfers', payee, key('payout')));
    }
  }

  /** Payments that are paid at once and shared with sub-accounts; what each has left once its period is paid out is for the next. */
  async collectShares(label: string): Promise<void> {
    const shared = this.subAccounts.slice(0, sharesMax).map(async ({ merchant, id }, index) => {
      const data = { amount: 300, network: 'aps', account_number: '7000001', sub_account: id };
      this.#notePayment(merchant, await merchant.send('POST', '/v1/payments', { data }, `key ${label} ${index}`));
    });
    await Promise.all(shared);
  }

  async #createSubAccount(choices: Choices): Promise<Known | undefined> {
    const merchant = this.#merchant(choices);
    const body = {
      ...{ name: 'Awa', percentage: 1 + choices.below(60), settlement_code: choices.pick(networks) },
      account_number: `7${digits(choices)}${choices.pick(payeeEndings)}`,
    };
    const { status, body: created } = this.record(await merchant.send('POST', '/v1/sub-accounts', body));
    if (status !== 201) return undefined;
    const sub = { merchant, id: String(created['id']) };
    this.subAccounts.push(sub);
    this.subAccountChanges.add(sub, created);
    return sub;
  }

  /** Where an open payment shares with it, its merchant cancels that first, and money that comes all the same finds nobody. */
  async #deleteSubAccount({ merchant, id }: Known): Promise<void> {
    const path = `/v1/sub-accounts/${id}`;
    const { status, text } = this.record(await merchant.send('DELETE', path));
    if (status === 200) return;
    const [, intentId] = /The open payment ([0-9a-f-]{36})/.exec(text) ?? [];
    if (intentId === undefined) return;
    this.record(await merchant.send('POST', `/v1/payments/${intentId}/cancel`, {}));
    this.record(await merchant.send('DELETE', path));
  }

  #notePayment(merchant: MerchantClient, response: MerchantResponse): void {
    const { status, body } = this.record(response);
    if (status === 201) this.payments.push({ merchant, id: String(body['payment_intent_id']) });
  }

  #noteRefund(response: MerchantResponse): void {
    const { status, body } = this.record(response);
    if (status === 201) this.refunds.push(String(body['id']));
  }

  #merchant(choices: Choices): MerchantClient {
    const { merchants } = this.#options;
    return choices.pick(merchants);
  }

  /** One that has sub-accounts, once there is one. */
  #withSubAccounts(choices: Choices): MerchantClient {
    return this.#known(this.subAccounts, choices)?.merchant ?? this.#merchant(choices);
  }

  #known(list: readonly Known[], choices: Choices): Known | undefined {
    return list[choices.below(Math.max(1, list.length))];
  }

  #ofMerchant(list: readonly Known[], merchant: MerchantClient, choices: Choices): Known | undefined {
    return this.#known(
      list.filter((known) => known.merchant === merchant),
      choices,
    );
  }

  #noteTransfer(merchant: MerchantClient, response: MerchantResponse): void {
    const { status, body } = this.record(response);
    if (status === 201) this.transfers.push({ merchant, id: String(body['id']) });
  }

  /** Refusals are part of the story; anything else than an answer of the API is not. */
  record(response: MerchantResponse): MerchantResponse {
    const { status, text, body } = response;
    if (status >= 500) throw new Error(`the API answered ${status}: ${text}`);
    this.#options.note(`  answered ${status} ${JSON.stringify(body['code'] ?? body['status'] ?? '')}`);
    if (status >= 300) this.refused.push(`${status} ${String(body['code'])}`);
    return response;
  }
}
