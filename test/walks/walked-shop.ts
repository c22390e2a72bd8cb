import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readBalances } from '../../server/src/ledger/balances.ts';
import type { Account } from '../../server/src/ledger/accounts.ts';
import type { TransferStory } from '../harness/transfer-story.ts';
import type { ModelPayment, MoneyModel } from './money-model.ts';

type Body = Readonly<Record<string, unknown>>;

/** What is left of the test money of a new merchant: so little that some transfers are refused. */
export const startMinor = 3_000n;

/** A merchant of one walk, through the API, the hosted pages and the phone. */
export class WalkedShop {
  readonly story: TransferStory;
  /** How many commands of the walk were done. */
  commands = 0;

  constructor(story: TransferStory) {
    this.story = story;
  }

  /** The response's body, whose status is the expected one, or for a refusal its code. */
  async post(path: string, body: Body, expected: 200 | 201 | string): Promise<Body> {
    const response = await this.story.api.post(path, body, { 'idempotency-key': randomUUID() });
    const outcome = response.status < 300 ? response.status : response.body['code'];
    assert.equal(outcome, expected, `${path}: ${response.text}`);
    return response.body;
  }

  async send(method: 'PUT' | 'DELETE', path: string, body?: Body): Promise<{ status: number; body: Body }> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    return this.story.api.send(method, path, { ...(body && { body: JSON.stringify(body) }), headers });
  }

  /** A payer fills in the page of a link or counter; returns the payment. */
  async payOnPage(address: string, fields: Record<string, string>): Promise<Body> {
    const { url } = this.story.service;
    const path = new URL(address).pathname;
    const page = await (await fetch(url + path)).text();
    const hidden = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
    const form = { ...Object.fromEntries(Array.from(hidden, ([, name = '', value = '']) => [name, value])), ...fields };
    const headers = { 'sec-fetch-site': 'same-origin' };
    const sent = await fetch(url + path, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams(form),
    });
    assert.equal(sent.status, 303, await sent.text());
    const newest = await this.story.api.get('/v1/payments?limit=1');
    const [intent] = newest.body['data'] as Body[];
    assert.ok(intent);
    // Where the amount was open, the networks are on the next page.
    if (intent['attempts'] === 0) assert.equal(await this.story.postForm(String(intent['id']), '', fields), 303);
    return intent;
  }

  /** What the payer can still do on the phone to pay; the network's prompt ends with the payment's time. */
  async approve({ id, expiresAtMs }: ModelPayment, nowMs: number): Promise<void> {
    const isOpen = (await this.story.networkStatus(id)) === 'open' && nowMs < expiresAtMs;
    await this.story.onPhone(id, isOpen ? 'approve' : 'approve_late');
  }

  async balances(model: MoneyModel): Promise<Record<string, bigint>> {
    const { service, merchant } = this.story;
    const subs = model.subAccounts.map(({ id }) => id);
    const own = ['payable_available', 'payable_pending', 'receivable_merchant', 'fees', 'held', 'suspense'] as const;
    const ofSubs = subs.flatMap((id): Account[] => [`sub:${id}`, `sub:${id}:pending`, `sub_owed:${id}`]);
    const query = { merchantId: merchant.merchant.id, currency: 'GMD', accounts: [...own, ...ofSubs] as Account[] };
    const read = await readBalances(service.db, query);
    const of = (account: Account): bigint => read.get(account) ?? 0n;
    return {
      merchant: of('payable_available') + of('payable_pending') - of('receivable_merchant'),
      fees: of('fees'),
      held: of('held'),
      suspense: of('suspense'),
      ...Object.fromEntries(
        subs.flatMap((id) => [
          [`sub:${id}`, of(`sub:${id}`) + of(`sub:${id}:pending`)],
          [`sub_owed:${id}`, of(`sub_owed:${id}`)],
        ]),
      ),
    };
  }

  /** After everything that is due now: the balances are the model's, and without a reserve nothing is pending. */
  async compare(model: MoneyModel): Promise<void> {
    await this.story.settle();
    assert.deepEqual(await this.balances(model), model.balances);
    if (model.isSettled) assert.equal(await this.story.balance('payable_pending'), 0n);
  }
}

export function dalasi(minor: bigint): number {
  return Number(minor) / 100;
}
