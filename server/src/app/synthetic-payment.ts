import type { Metrics } from '../http/metrics.ts';
import { addMs, secondsSince, type Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { amountToJson } from '../kit/money.ts';
import type { JsonValue } from '../kit/strict-json.ts';
import { isObject, textOf } from '../kit/untyped.ts';
import { createNetworkClient, type NetworkClient } from '../networks/http-client.ts';

export interface SyntheticPaymentOptions {
  /** A test merchant's key; null where nobody wants synthetic payments. */
  key: string | null;
  /** Where merchants reach the service. */
  baseUrl: () => string;
  amountMinor: bigint;
  clock: Clock;
  log: Log;
}

// Simulated, and approved at once.
const payer = { network: 'aps', account_number: '7000001' };
// Each of its parts takes milliseconds; an alert has to come within two minutes.
const paidWithinMs = 30_000;
const lookEveryMs = 1_000;
const callTimeoutMs = 10_000;

/** The result of the last one. */
interface Attempt {
  durationMs: number;
  /** Why it failed, in a sentence; null where it was paid. */
  problem: string | null;
}

/**
 * Test payments by which the service shows that it works: through its public address as a merchant's, to a simulated network and
 * back. What is wrong with address, certificate, proxy, API, worker or database shows in one figure.
 */
export class SyntheticPayments {
  readonly #options: SyntheticPaymentOptions;
  readonly #client: NetworkClient;
  #paidAt: Date;
  #last: Attempt | null = null;

  constructor(options: SyntheticPaymentOptions) {
    this.#options = options;
    this.#client = createNetworkClient({ ...options, callTimeoutMs, connectionsMax: 1 });
    // So that one that never succeeds is noticed.
    this.#paidAt = options.clock.now();
  }

  get isOn(): boolean {
    return this.#options.key !== null;
  }

  /** Makes one, and remembers how it ended. Never rejects. */
  async run(): Promise<void> {
    const { clock, log } = this.#options;
    const startedAt = clock.now();
    const problem = await this.#pay(startedAt).catch((error: unknown) => String(error));
    const endedAt = clock.now();
    this.#last = { durationMs: endedAt.getTime() - startedAt.getTime(), problem };
    if (problem === null) this.#paidAt = endedAt;
    else log.warn('the synthetic payment failed', { reason: problem });
  }

  register(metrics: Metrics): void {
    const { clock } = this.#options;
    const figure = (name: string, help: string, read: () => number | null): void =>
      metrics.figure(name, help, () => (this.isOn ? read() : null));
    figure('dalasi_synthetic_payment_failed', '1 if the last synthetic payment of this process failed, else 0.', () =>
      this.#last === null ? null : Number(this.#last.problem !== null),
    );
    figure('dalasi_synthetic_payment_duration_seconds', 'How long the last synthetic payment took.', () =>
      this.#last === null ? null : this.#last.durationMs / 1_000,
    );
    figure(
      'dalasi_synthetic_payment_paid_seconds',
      'How long ago a synthetic payment of this process was last paid.',
      () => secondsSince(clock, this.#paidAt),
    );
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Returns why it was not paid; null where it was. */
  async #pay(startedAt: Date): Promise<string | null> {
    const { clock, amountMinor } = this.#options;
    const data = { amount: amountToJson(amountMinor), title: 'Synthetic payment', ...payer };
    const created = await this.#call('POST', '/v1/payments', data, startedAt);
    if (typeof created === 'string') return `It could not be created: ${created}.`;
    const id = textOf(created['payment_intent_id']);
    const until = addMs(startedAt, paidWithinMs);
    for (;;) {
      const found = await this.#call('GET', `/v1/payments/${id}`);
      if (typeof found === 'string') return `Payment ${id} could not be read: ${found}.`;
      const status = textOf(found['status']);
      if (status === 'successful') return null;
      const isOver = status !== 'processing' || clock.now() >= until;
      if (isOver) return `Payment ${id} is ${status} after ${secondsBetween(startedAt, clock.now())} s.`;
      await clock.sleep(lookEveryMs);
    }
  }

  /** The body of a success, or what went wrong. */
  async #call(
    method: 'GET' | 'POST',
    path: string,
    data?: object,
    startedAt?: Date,
  ): Promise<Readonly<Record<string, JsonValue>> | string> {
    const reply = await this.#client.call({
      ...{ pool: 'collections', method, path },
      headers: {
        authorization: `Bearer ${this.#options.key ?? ''}`,
        ...(startedAt && { 'idempotency-key': `synthetic ${startedAt.toISOString()}` }),
      },
      ...(data && { body: JSON.stringify({ data }) }),
    });
    if (reply.kind !== 'response') return reply.detail;
    const { status, body } = reply;
    if (status < 300 && isObject(body)) return body;
    return `status ${status}${isObject(body) ? ` ${textOf(body['code'])}` : ''}`;
  }
}

function secondsBetween(from: Date, to: Date): number {
  return Math.round((to.getTime() - from.getTime()) / 1_000);
}
