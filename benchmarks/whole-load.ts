/**
 * Whole payments, from the request that creates one to the moment in which it stands booked in the database with its
 * event: as many at once as the options say, or at a steady rate.
 */
import pg from 'pg';
import { Pool } from 'undici';
import { atRate } from './harness/load-rate.ts';
import { printResult, programOptions } from './harness/program.ts';
import { latenciesOf, type Latencies } from './harness/statistics.ts';
import { systemClock } from '../server/src/kit/clock.ts';

export interface WholeLoadOptions {
  url: string;
  key: string;
  adminUrl: string;
  merchantId: string;
  /** Payments at once; with a rate, the most there may be. */
  payers: number;
  /** Absent: the next payment begins when one is done. */
  paymentsPerSecond?: number;
  /** Shares each payment. */
  subAccountGroupId?: string;
  seconds: number;
}

export interface WholeLoadResult extends Latencies {
  paymentsPerSecond: number;
  /** Created, but not booked in time. */
  failures: number;
}

// The simulated networks approve this number at once.
const payment = { amount: 450, network: 'aps', account_number: '7000001' };
const pollEveryMs = 20;
const drainMs = 15_000;

/** Waits for payments to be booked: one look-up at each interval for all of them. */
class BookedWatch {
  readonly #client: pg.Client;
  readonly #merchantId: string;
  readonly #waiting = new Map<string, () => void>();
  isEnded = false;

  constructor(client: pg.Client, merchantId: string) {
    this.#client = client;
    this.#merchantId = merchantId;
  }

  booked(id: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** The intent becomes successful in the transaction that books the money and writes the event. */
  async run(): Promise<void> {
    while (!this.isEnded) {
      if (this.#waiting.size > 0) {
        const { rows } = await this.#client.query<{ id: string }>({
          name: 'booked',
          text: `SELECT id FROM payment_intents WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND status = 'successful'`,
          values: [this.#merchantId, [...this.#waiting.keys()]],
        });
        for (const { id } of rows) {
          this.#waiting.get(id)?.();
          this.#waiting.delete(id);
        }
      }
      await systemClock.sleep(pollEveryMs);
    }
  }
}

async function wholeLoad(options: WholeLoadOptions): Promise<WholeLoadResult> {
  const client = new pg.Client({ connectionString: options.adminUrl });
  await client.connect();
  // With an array as the parameter the server would plan the look-up anew each time.
  await client.query('SET plan_cache_mode = force_generic_plan');
  const watch = new BookedWatch(client, options.merchantId);
  const watching = watch.run();
  const http = new Pool(options.url, { connections: options.payers, pipelining: 1 });
  const { subAccountGroupId, payers, paymentsPerSecond, seconds } = options;
  const data = subAccountGroupId === undefined ? payment : { ...payment, sub_account_group: subAccountGroupId };
  const body = JSON.stringify({ data });
  const durationsMs: number[] = [];
  let begun = 0;
  let inTime = 0;
  const beganAt = performance.now();
  const endsAt = beganAt + seconds * 1_000;
  const payOnce = async (): Promise<void> => {
    const startedAt = performance.now();
    begun += 1;
    await watch.booked(await createPayment(http, options.key, body));
    const endedAt = performance.now();
    durationsMs.push(endedAt - startedAt);
    if (endedAt <= endsAt) inTime += 1;
  };
  const done = new AbortController();
  const timeout = systemClock.sleep(seconds * 1_000 + drainMs, done.signal);
  const all =
    paymentsPerSecond === undefined
      ? payContinuously(payers, endsAt, payOnce)
      : atRate({ perSecond: paymentsPerSecond, seconds, concurrencyMax: payers }, payOnce);
  await Promise.race([all, timeout]);
  done.abort();
  watch.isEnded = true;
  await watching;
  await client.end();
  await http.destroy();
  return {
    ...latenciesOf(durationsMs),
    paymentsPerSecond: inTime / seconds,
    failures: begun - durationsMs.length,
  };
}

async function payContinuously(payers: number, endsAt: number, payOnce: () => Promise<void>): Promise<void> {
  const payer = async (): Promise<void> => {
    while (performance.now() < endsAt) await payOnce();
  };
  await Promise.all(Array.from({ length: payers }, payer));
}

async function createPayment(http: Pool, key: string, body: string): Promise<string> {
  const response = await http.request({
    method: 'POST',
    path: '/v1/payments',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(`a payment returned ${response.statusCode}: ${text}`);
  return (JSON.parse(text) as { payment_intent_id: string }).payment_intent_id;
}

printResult(await wholeLoad(programOptions<WholeLoadOptions>()));
