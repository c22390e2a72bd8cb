import { fieldError } from '../api/app-error.ts';
import { errorBody } from '../http/error-responses.ts';
import type { MoneyContext } from '../app/contexts.ts';
import type { Database } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { randomBase62 } from '../kit/base62.ts';
import { amountToJson } from '../kit/money.ts';
import { KeyUses } from '../merchants/key-uses.ts';
import { createdIntentToWire } from '../payments/intent-wire.ts';
import type { Intent } from '../payments/intent.ts';
import { RequestLog, type SeenRequest } from '../request-log/request-log.ts';
import { happens, wholeNumber } from './choices.ts';
import type { DemoTime } from './demo-time.ts';

const requestIdLength = 20;
// The shop's server, at an address for examples (RFC 5737).
const address = '192.0.2.10';
// A form without an amount, now and then.
const refusalProbability = 0.02;

interface RequestWorld {
  time: DemoTime;
  db: Database;
  money: Pick<MoneyContext, 'settings' | 'clock'>;
  merchant: Pick<Merchant, 'id'>;
}

interface DemoRequestsOptions {
  /** The key of the shop's server; null writes nothing. */
  keyId: string | null;
  /** Older requests would be deleted at once. */
  since: Date;
}

/** What the shop's server sent to the API, as the request log has it. */
export class DemoRequests {
  readonly #world: RequestWorld;
  readonly #options: DemoRequestsOptions;
  readonly #log: RequestLog;
  readonly #keyUses: KeyUses;

  constructor(world: RequestWorld, options: DemoRequestsOptions) {
    const { db, time } = world;
    this.#world = world;
    this.#options = options;
    this.#log = new RequestLog({ db, clock: time, newId: time.newId, observeDropped: () => {} });
    this.#keyUses = new KeyUses(db);
  }

  newId(): string {
    return `req_${randomBase62(this.#world.time.random, requestIdLength)}`;
  }

  noteCreation(requestId: string, intent: Intent): void {
    const { money, time } = this.#world;
    const { title, amountMinor, customerId, subAccountId } = intent;
    const data = {
      ...(customerId !== null && { customer: customerId }),
      ...(subAccountId !== null && { sub_account: subAccountId }),
      title,
    };
    const creation = { method: 'POST', path: '/v1/payments' };
    if (happens(time.random, refusalProbability)) {
      const id = this.newId();
      const error = fieldError('invalid_request', 'data.amount', 'The amount is required.');
      const responseText = JSON.stringify(errorBody(error, { id }, { docsUrl: money.settings.publicUrl }));
      this.#note({ ...creation, requestId: id, statusCode: error.statusCode, requestBody: { data }, responseText });
    }
    this.#note({
      ...{ ...creation, requestId, statusCode: 201 },
      idempotencyKey: `order-${intent.id.slice(-12)}`,
      requestBody: { data: { amount: amountToJson(amountMinor), ...data } },
      responseText: JSON.stringify(createdIntentToWire(money, intent)),
    });
  }

  /** The shop's server looks whether a payment was paid. */
  noteRead(transactionId: string): void {
    const requestId = this.newId();
    this.#note({ method: 'GET', path: `/v1/transactions/${transactionId}`, requestId, statusCode: 200 });
  }

  async write(): Promise<void> {
    while ((await this.#log.write()) > 0);
    await this.#keyUses.write();
  }

  #note(request: Pick<SeenRequest, 'method' | 'path' | 'requestId' | 'statusCode'> & Partial<SeenRequest>): void {
    const { keyId, since } = this.#options;
    const { time, merchant } = this.#world;
    const usedAt = time.now();
    if (keyId === null || usedAt < since) return;
    const none = { query: '', idempotencyKey: null, requestBody: null, requestBytes: 0, responseText: null };
    const durationMs = wholeNumber(time.random, 3, 24);
    this.#log.note({ ...none, merchantId: merchant.id, keyId, durationMs, ...request });
    this.#keyUses.note({ merchantId: merchant.id, keyId, usedAt, address });
  }
}
