import type { BareLoopOptions, BareLoopResult } from './bare-loop.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import type { OpenLoadOptions, OpenLoadResult } from './open-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import { startEventReceiver } from './harness/event-receiver.ts';
import { failureFigure, type Figure, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole } from './harness/statistics.ts';
import { databaseRate, hasPgbench } from './harness/three-inserts.ts';
import type { Workbench } from './harness/workbench.ts';

const connections = 32;
const merchantsMany = 32;
const seconds = 4;
const rounds = 5;
const warmUpSeconds = 4;
// Four rounds of the database's automatic vacuum.
const steadySeconds = 20;
const halfLoadP99MaxMs = 15;

/** A way of creating intents, beside the same rate of the database. */
interface Variant {
  label: string;
  load: Partial<HttpLoadOptions>;
  ratioMin: number | null;
}

export const intents: Part = {
  name: 'intents',
  title: 'Creating intents beside the database’s own rate',
  description:
    `POST /v1/payments on ${connections} connections against one service process, beside the database alone: an intent, its ` +
    'event and a row of the outbox in one transaction, as commit fe763d9 wrote them, on as many connections, sent by pgbench ' +
    'where it is installed, else by a loop of prepared statements in a process of its own. Both are durable. All take turns in ' +
    'each round; ratios are medians over the rounds. The endpoint receives every event meanwhile. At half load requests come one ' +
    'by one at equal distances, whether or not earlier ones have been answered, and count from when they were due.',
  async run(bench) {
    const service = await bench.startService();
    const receiver = await startEventReceiver(() => 'respond');
    try {
      return await measure(bench, service, receiver.url);
    } finally {
      await receiver.close();
      await service.stop();
    }
  },
};

async function measure(bench: Workbench, service: Service, receiverUrl: string): ReturnType<Part['run']> {
  const many = await service.addMerchants(merchantsMany);
  const [one] = await service.addMerchants(1);
  if (!one) throw new Error('no merchant was added');
  // The demo merchant is the one with a default endpoint.
  await subscribe(service, receiverUrl);
  const variants: Variant[] = [
    { label: 'one merchant', load: { key: one.key }, ratioMin: 1 },
    { label: `${merchantsMany} merchants`, load: { key: many.map(({ key }) => key) }, ratioMin: null },
    { label: 'one merchant, with an Idempotency-Key', load: { key: one.key, idempotent: true }, ratioMin: 0.8 },
    { label: 'one merchant, with a subscribed endpoint', load: { key: service.key }, ratioMin: 0.8 },
  ];
  for (const { load } of variants) await create(service, { ...load, seconds: warmUpSeconds });
  const tool = hasPgbench() ? 'pgbench' : 'a loop of prepared statements';
  const base: number[] = [];
  const results = variants.map((): HttpLoadResult[] => []);
  for (let round = 0; round < rounds; round += 1) {
    base.push(await databaseAlone(service));
    // Another one begins in each round, so that none always follows the same.
    for (const offset of variants.keys()) {
      const index = (round + offset) % variants.length;
      results[index]?.push(await create(service, variants[index]?.load ?? {}));
      await service.settled();
    }
    const rates = results.map((each) => whole(each.at(-1)?.requestsPerSecond ?? 0)).join(', ');
    bench.log(`  round ${round + 1}: ${whole(base.at(-1) ?? 0)}/s in the database alone; ${rates}/s over HTTP`);
  }
  const full = median((results[0] ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
  const half = await createAtRate(service, one.key, full / 2);
  const alone = await create(service, { key: one.key, connections: 1 });
  const { 201: _created, ...failedAtRate } = half.counts;
  const failures =
    [...results.flat(), alone].reduce((sum, each) => sum + each.failures, 0) +
    Object.values(failedAtRate).reduce((sum, count) => sum + count, 0);
  return {
    figures: [
      { label: `Transactions a second in the database alone, by ${tool}`, value: whole(median(base)) },
      ...variants.flatMap((variant, index) => figuresOf(variant, results[index] ?? [], base)),
      {
        label: `p50, p95, p99 at half load (${whole(full / 2)} a second)`,
        value: [half.p50Ms, half.p95Ms, half.p99Ms].map(inMs).join(', '),
        aim: { text: `p99 at most ${halfLoadP99MaxMs} ms`, isMet: half.p99Ms <= halfLoadP99MaxMs },
      },
      { label: 'p50 on one connection', value: inMs(alone.p50Ms) },
      failureFigure('Requests that failed', failures),
    ],
    bars: [
      {
        label: 'creation ÷ database alone',
        value: ratioOf(results[0] ?? [], base).ratio,
        aim: 1,
        better: 'higher',
        unit: 'ratio',
      },
    ],
  };
}

function figuresOf(
  { label, ratioMin }: Variant,
  results: readonly HttpLoadResult[],
  base: readonly number[],
): Figure[] {
  const { ratio, lowest, highest } = ratioOf(results, base);
  return [
    {
      label: `Intents a second over HTTP, ${label}`,
      value: whole(median(results.map((each) => each.requestsPerSecond))),
    },
    {
      label: `Ratio, ${label}`,
      value: `${ratio.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`,
      ...(ratioMin !== null && { aim: { text: `at least ${ratioMin}`, isMet: ratio >= ratioMin } }),
    },
  ];
}

function ratioOf(results: readonly HttpLoadResult[], base: readonly number[]) {
  const ratios = results.map((each, round) => each.requestsPerSecond / (base[round] ?? Number.NaN));
  return { ratio: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}

function create(service: Service, load: Partial<HttpLoadOptions>): Promise<HttpLoadResult> {
  const { url, key } = service;
  const options: HttpLoadOptions = {
    url,
    key,
    path: '/v1/payments',
    body: creationBody,
    connections,
    seconds,
    ...load,
  };
  return runProgram('http-load.ts', options);
}

function createAtRate({ url }: Service, key: string, perSecond: number): Promise<OpenLoadResult> {
  const options: OpenLoadOptions = {
    url,
    keys: [key],
    path: '/v1/payments',
    body: creationBody,
    idempotent: false,
    perSecond,
    seconds: steadySeconds,
    warmUpSeconds,
    connections,
  };
  return runProgram('open-load.ts', options, { measuresLatency: true });
}

async function databaseAlone(service: Service): Promise<number> {
  if (hasPgbench()) return await databaseRate(service, { connections, seconds });
  const { appUrl, merchantId } = service;
  const options: BareLoopOptions = {
    appUrl,
    request: 'three inserts',
    merchantIds: [merchantId],
    connections,
    seconds,
  };
  return (await runProgram<BareLoopResult>('bare-loop.ts', options)).transactionsPerSecond;
}

/** An endpoint of the demo merchant that receives the event of each creation. */
async function subscribe({ url, key }: Service, receiverUrl: string): Promise<void> {
  const response = await fetch(`${url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': receiverUrl },
    body: JSON.stringify({ url: receiverUrl, enabled_events: ['payment_intent.created'] }),
  });
  if (!response.ok) throw new Error(`the endpoint was refused: ${await response.text()}`);
}
