import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient, type ApiClient, type ApiResponse } from './api-client.ts';

interface SteadyLoadOptions {
  url: string;
  key: string;
  clients: number;
  /** Of each client. */
  pauseMs?: number;
  /** Whom they charge and pay, in turn; by default a number with which all succeeds. */
  accountNumbers?: readonly string[];
}

const patienceMs = 120_000;

/**
 * Merchants that charge and pay out without end, each request under a key with which it is repeated until it is acknowledged: what a
 * careful client does while the service or its database has faults.
 */
export class SteadyLoad {
  readonly #api: ApiClient;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #pauseMs: number;
  readonly #accountNumbers: readonly string[];
  /** The ids by key, of what was acknowledged. */
  readonly payments = new Map<string, string>();
  readonly transfers = new Map<string, string>();
  /** Statuses and errors by how often they came. */
  readonly responses = new Map<string, number>();
  /** When the last request was acknowledged, and the longest time in which none was. */
  #lastMs = performance.now();
  #longestMs = 0;

  constructor({ url, key, clients, pauseMs = 0, accountNumbers = ['7000001'] }: SteadyLoadOptions) {
    this.#api = createApiClient(url, key);
    this.#pauseMs = pauseMs;
    this.#accountNumbers = accountNumbers;
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#runClient()));
  }

  get acknowledged(): number {
    return this.payments.size + this.transfers.size;
  }

  /** The longest time since the last call in which no request was acknowledged. */
  takeLongestGapMs(): number {
    const longest = Math.max(this.#longestMs, performance.now() - this.#lastMs);
    this.#longestMs = 0;
    this.#lastMs = performance.now();
    return longest;
  }

  /** Resolves when the requests under way are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #runClient(): Promise<void> {
    for (let count = 0; !this.#stopped.signal.aborted; count += 1) {
      const key = randomUUID();
      const isPayment = count % 4 !== 3;
      // Payments and payouts both reach every number.
      const number = this.#accountNumbers[Math.floor(count / 4) % this.#accountNumbers.length] ?? '';
      const account = { network: 'aps', account_number: number };
      const response = await this.#untilAcknowledged(() =>
        isPayment
          ? this.#api.post('/v1/payments', { data: { amount: 100, ...account } }, { 'idempotency-key': key })
          : this.#api.post(
              '/v1/transfers',
              { amount: 1, ...account, beneficiary_name: 'Awa Ceesay' },
              { 'idempotency-key': key },
            ),
      );
      if (isPayment) this.payments.set(key, String(response.body['payment_intent_id']));
      else this.transfers.set(key, String(response.body['id']));
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#lastMs);
      this.#lastMs = performance.now();
      if (this.#pauseMs > 0) await sleep(this.#pauseMs);
    }
  }

  async #untilAcknowledged(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const began = performance.now();
    for (;;) {
      const response = await send().catch((error: Error) => error);
      const outcome = response instanceof Error ? 'no response' : String(response.status);
      this.responses.set(outcome, (this.responses.get(outcome) ?? 0) + 1);
      if (!(response instanceof Error)) {
        if (response.status === 201) return response;
        assert.ok(response.status === 503 || response.status === 409 || response.status === 429, response.text);
        assert.ok(response.headers.get('retry-after') !== null, response.text);
      }
      assert.ok(performance.now() - began < patienceMs, `not acknowledged in ${patienceMs} ms: ${outcome}`);
      await sleep(100);
    }
  }
}
