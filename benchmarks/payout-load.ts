/**
 * Orders to pay out at a steady rate, and for each the time from its answer to the moment in which the simulated
 * network has it.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Pool } from 'undici';
import { atRate } from './harness/load-rate.ts';
import { printResult, programOptions } from './harness/program.ts';
import { latenciesOf, type Latencies } from './harness/statistics.ts';
import { transferBody, transferPath } from './harness/transfer-statements.ts';
import { systemClock } from '../server/src/kit/clock.ts';

export interface PayoutLoadOptions {
  url: string;
  key: string;
  adminUrl: string;
  merchantId: string;
  transfersPerSecond: number;
  seconds: number;
}

/** Latencies are from the response to the arrival at the network. */
export interface PayoutLoadResult extends Latencies {
  acceptedPerSecond: number;
  /** Arrived at the network by the end of the last second. */
  receivedPerSecond: number;
  /** Refused, or not received in time. */
  failures: number;
}

const connections = 64;
const pollEveryMs = 250;
const drainMs = 15_000;

async function payoutLoad(options: PayoutLoadOptions): Promise<PayoutLoadResult> {
  const { seconds, transfersPerSecond } = options;
  const http = new Pool(options.url, { connections, pipelining: 1 });
  const acceptedAt = new Map<string, number>();
  const endsAt = wallClock() + seconds * 1_000;
  let begun = 0;
  await atRate({ perSecond: transfersPerSecond, seconds, concurrencyMax: connections }, async () => {
    begun += 1;
    const id = await requestTransfer(http, options.key);
    if (id !== null) acceptedAt.set(id, wallClock());
  });
  await http.destroy();
  const receivedAt = await listReceivedTimes(options, [...acceptedAt.keys()]);
  const durationsMs = [...receivedAt].map(([id, time]) => Math.max(0, time - (acceptedAt.get(id) ?? time)));
  const perSecondInTime = (times: Iterable<number>): number =>
    [...times].filter((time) => time <= endsAt).length / seconds;
  return {
    ...latenciesOf(durationsMs),
    acceptedPerSecond: perSecondInTime(acceptedAt.values()),
    receivedPerSecond: perSecondInTime(receivedAt.values()),
    failures: begun - receivedAt.size,
  };
}

/** The service's clock, to the fraction of a millisecond. */
function wallClock(): number {
  return performance.timeOrigin + performance.now();
}

async function requestTransfer(http: Pool, key: string): Promise<string | null> {
  const response = await http.request({
    method: 'POST',
    path: transferPath,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: transferBody,
  });
  const text = await response.body.text();
  return response.statusCode === 201 ? (JSON.parse(text) as { id: string }).id : null;
}

/** When each transfer arrived at the network, once all have or time is up. */
async function listReceivedTimes(
  { adminUrl, merchantId }: PayoutLoadOptions,
  ids: string[],
): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const giveUpAt = performance.now() + drainMs;
  for (;;) {
    const { rows } = await client.query<{ id: string; receivedAt: Date }>(
      `SELECT transfers.id, payouts.created_at AS "receivedAt" FROM transfers
       JOIN merchants ON merchants.id = transfers.merchant_id
       JOIN simulator.payouts ON payouts.account = merchants.short_id AND payouts.network = transfers.network
         AND payouts.reference = transfers.reference
       WHERE transfers.merchant_id = $1 AND transfers.id = ANY ($2::uuid[])`,
      [merchantId, ids],
    );
    if (rows.length === ids.length || performance.now() > giveUpAt) {
      await client.end();
      return new Map(rows.map(({ id, receivedAt }) => [id, receivedAt.getTime()]));
    }
    await systemClock.sleep(pollEveryMs);
  }
}

printResult(await payoutLoad(programOptions<PayoutLoadOptions>()));
