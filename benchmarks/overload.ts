import { Agent, request as send } from 'undici';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import type { OpenLoadOptions, OpenLoadResult } from './open-load.ts';
import { atRate } from './harness/load-rate.ts';
import { failureFigure, secondsOf, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, latenciesOf, whole, type Latencies } from './harness/statistics.ts';
import { transferBody, transferPath } from './harness/transfer-statements.ts';

const merchants = 32;
const capacitySeconds = 10;
const warmUpSeconds = 4;
const times = 5;
const overloadSeconds = secondsOf({ usual: 30 });
const goodputMin = 0.8;
// More than wait for an answer at once.
const overloadConnections = 1_500;
const usualConnections = 200;
const usualSeconds = 5;
const usualShare = 0.5;
// A load in which latency is back to what it was, within what two runs of one load differ by.
const recoveredTimes = 1.5;
const recoversWithinSeconds = 60;
// What comes newly meanwhile: a payer who opens a page, or the load balancer that asks whether the process lives.
const newConnectionsPerSecond = 5;
const newConnectionMaxMs = 1_000;

export const overload: Part = {
  name: 'overload',
  title: 'Five times more than it can do',
  description:
    `POST /v1/transfers of ${merchants} merchants: first as many as ${merchants} connections get answered, which is the capacity. ` +
    `Then ${times} times that rate for ${overloadSeconds} s by the clock, whether or not earlier ones have been answered, on ` +
    `${whole(overloadConnections)} open connections, which takes processor time from the service. Refused means 429 or 503 with Retry-After. ` +
    `It has recovered in the first ${usualSeconds} s in which half the capacity is accepted, with a p95 of at most ${recoveredTimes} times what it ` +
    'was before. One process does everything, and pays the transfers out meanwhile.',
  async run(bench) {
    const service = await bench.startService();
    const keys = (await service.addMerchants(merchants)).map(({ key }) => key);
    await closed(service, keys, warmUpSeconds);
    const { requestsPerSecond: capacity } = await closed(service, keys, capacitySeconds);
    await service.settled();
    const usual = { perSecond: capacity * usualShare, seconds: usualSeconds, connections: usualConnections };
    const excess = { perSecond: capacity * times, seconds: overloadSeconds, connections: overloadConnections };
    const before = await atOpenRate(service, keys, usual);
    const [result, opened] = await Promise.all([atOpenRate(service, keys, excess), openConnections(service)]);
    bench.log(`  at ${whole(capacity * times)}/s: ${JSON.stringify(result.counts)}`);
    const recovery = await recover(() => atOpenRate(service, keys, usual), before.p95Ms * recoveredTimes);
    await service.settled();
    await service.stop();
    const { 201: accepted = 0, refused = 0, ...others } = result.counts;
    const share = result.succeededPerSecond / capacity;
    return {
      figures: [
        { label: 'Capacity, transfers a second', value: whole(capacity) },
        { label: `Requests a second, ${times} times that`, value: whole(capacity * times) },
        { label: 'Accepted, refused', value: [accepted, refused].map(whole).join(', ') },
        {
          label: 'Accepted a second meanwhile ÷ capacity',
          value: share.toFixed(2),
          aim: { text: `at least ${goodputMin}`, isMet: share >= goodputMin },
        },
        { label: 'Latency p50, p95, p99 of the accepted', value: latencies(result) },
        { label: 'The same at half the capacity, before', value: latencies(before) },
        {
          label: 'GET /healthz on a new connection meanwhile, p50, p95, p99',
          value: latencies(opened),
          aim: { text: `p99 under ${whole(newConnectionMaxMs)} ms`, isMet: opened.p99Ms < newConnectionMaxMs },
        },
        {
          label: 'Seconds until half the capacity is served as before',
          value: recovery.seconds === null ? `not in ${recoversWithinSeconds}` : whole(recovery.seconds),
          aim: { text: `at most ${recoversWithinSeconds}`, isMet: recovery.seconds !== null },
        },
        { label: 'Latency p50, p95, p99 then', value: latencies(recovery.last) },
        failureFigure('Requests that failed otherwise', sum(others)),
      ],
      bars: [
        {
          label: `accepted at ${times} times ÷ capacity`,
          value: share,
          aim: goodputMin,
          better: 'higher',
          unit: 'ratio',
        },
      ],
    };
  },
};

function latencies({ p50Ms, p95Ms, p99Ms }: Latencies): string {
  return [p50Ms, p95Ms, p99Ms].map(inMs).join(', ');
}

/** Requests for /healthz by the clock while the load lasts, each on a new connection. */
async function openConnections({ url }: Service): Promise<Latencies> {
  const durationsMs: number[] = [];
  const rate = { perSecond: newConnectionsPerSecond, seconds: overloadSeconds, concurrencyMax: overloadConnections };
  await atRate(rate, async (dueAt) => {
    const dispatcher = new Agent();
    const { body } = await send(`${url}/healthz`, { dispatcher });
    await body.dump();
    await dispatcher.close();
    durationsMs.push(performance.now() - dueAt);
  });
  return latenciesOf(durationsMs);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** How long it took until a load was served with this p95; null where it never was. */
async function recover(
  load: () => Promise<OpenLoadResult>,
  p95MaxMs: number,
): Promise<{ seconds: number | null; last: OpenLoadResult }> {
  for (let seconds = 0; ; seconds += usualSeconds) {
    const last = await load();
    const isServed = Object.keys(last.counts).every((outcome) => outcome === '201');
    if (isServed && last.p95Ms <= p95MaxMs) return { seconds, last };
    if (seconds >= recoversWithinSeconds) return { seconds: null, last };
  }
}

function closed({ url }: Service, key: string[], seconds: number): Promise<HttpLoadResult> {
  const request = { path: transferPath, body: transferBody, idempotent: true };
  const options: HttpLoadOptions = { url, key, ...request, connections: merchants, seconds };
  return runProgram('http-load.ts', options);
}

function atOpenRate(
  { url }: Service,
  keys: string[],
  load: { perSecond: number; seconds: number; connections: number },
): Promise<OpenLoadResult> {
  const options: OpenLoadOptions = {
    url,
    keys,
    path: transferPath,
    body: transferBody,
    idempotent: true,
    warmUpSeconds: 0,
    ...load,
  };
  return runProgram('open-load.ts', options, { measuresLatency: true });
}
