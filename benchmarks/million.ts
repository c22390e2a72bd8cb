import { withAdminClient } from '../server/src/database/admin-client.ts';
import { creationBody } from './harness/creation-statements.ts';
import { open, signIn, type Visit } from './harness/dashboard-visit.ts';
import { fillPayments, giveNumberTo } from './harness/fill-payments.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import type { Figure, Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole } from './harness/statistics.ts';
import type { Workbench } from './harness/workbench.ts';
import { describeRatio, measureAlternately, type Comparison } from './harness/alternate.ts';

const payments = Number(process.env['BENCH_PAYMENTS'] ?? 1_000_000);
const fewPayments = 1_000;
const connections = 8;
const seconds = 4;
const rounds = 6;
const warmUpSeconds = 3;
const pagesEachRound = 10;
const creationRatioMax = 1.2;
const readingRatioMax = 1.3;

const searchedNumber = '7004321';
const found = 20;

export const million: Part = {
  name: 'million',
  title: 'Many payments in the table',
  description:
    `The same service on two databases, one with ${whole(payments)} payments of the merchant (intent, charge and event each), ` +
    `one with ${whole(fewPayments)}. Alternately, the median latency of creating an intent and of the API’s first page, on ` +
    `${connections} connections, and of the dashboard’s list and its search for a number that paid ${found} times, one page after ` +
    'the other. BENCH_PAYMENTS sets another number of payments.',
  async run(bench) {
    const beganAt = performance.now();
    const services = [await prepare(bench, fewPayments), await prepare(bench, payments)];
    bench.log(`  ${whole(payments)} payments written in ${whole((performance.now() - beganAt) / 1_000)} s`);
    // A session ends after half an hour without a request, and writing ten million takes longer.
    const sides = await Promise.all(services.map(async (service) => ({ service, visit: await signIn(service) })));
    const [few, many] = sides;
    if (!few || !many) throw new Error('two services were prepared');
    const figures: Figure[] = [];
    const ratios = new Map<string, number>();
    for (const [label, ratioMax, latencyOf] of measured) {
      for (const side of sides) await latencyOf(side, warmUpSeconds);
      const comparison = await measureAlternately(
        rounds,
        { measured: () => latencyOf(many, seconds), base: () => latencyOf(few, seconds) },
        (round, { measured: full, base }) => bench.log(`  round ${round}: ${label} ${inMs(base)} and ${inMs(full)}`),
      );
      ratios.set(label, comparison.ratio);
      figures.push(...figuresOf(label, comparison, ratioMax));
    }
    for (const service of services) await service.stop();
    return {
      figures,
      bars: [
        bar('creation, many ÷ few payments', ratios.get('Creation'), creationRatioMax),
        bar('first page, many ÷ few payments', ratios.get('First page'), readingRatioMax),
      ],
    };
  },
};

interface Side {
  service: Service;
  visit: Visit;
}

async function prepare(bench: Workbench, count: number): Promise<Service> {
  const service = await bench.startService();
  await fillPayments(service, count);
  await withAdminClient(service.adminUrl, async (client) => {
    await client.query(giveNumberTo(searchedNumber, count / found));
    await client.query('VACUUM ANALYZE charges');
  });
  return service;
}

type LatencyOf = (side: Side, forSeconds: number) => Promise<number>;

const measured: readonly (readonly [label: string, ratioMax: number, latencyOf: LatencyOf])[] = [
  ['Creation', creationRatioMax, requestLatency({ path: '/v1/payments', body: creationBody })],
  ['First page', readingRatioMax, requestLatency({ path: '/v1/payments' })],
  ['Dashboard’s list', readingRatioMax, ({ visit }) => pageLatency(visit, '/payments')],
  ['Search by number', readingRatioMax, ({ visit }) => pageLatency(visit, `/payments?term=${searchedNumber}`)],
];

/** The median, in milliseconds. */
function requestLatency(request: Pick<HttpLoadOptions, 'path' | 'body'>): LatencyOf {
  return async ({ service: { url, key, settled } }, forSeconds) => {
    const options: HttpLoadOptions = { url, key, ...request, connections, seconds: forSeconds };
    const { p50Ms, failures } = await runProgram<HttpLoadResult>('http-load.ts', options);
    if (failures > 0) throw new Error(`${failures} requests to ${request.path} failed`);
    await settled();
    return p50Ms;
  };
}

async function pageLatency(visit: Visit, path: string): Promise<number> {
  const elapsedMs: number[] = [];
  for (let index = 0; index < pagesEachRound; index += 1) {
    const page = await open(visit, path);
    if (!page.text.includes('id="row-')) throw new Error(`${path} has no payment`);
    elapsedMs.push(page.elapsedMs);
  }
  return median(elapsedMs);
}

function figuresOf(label: string, comparison: Comparison, ratioMax: number): Figure[] {
  return [
    { label: `${label}, ${whole(fewPayments)} payments`, value: inMs(comparison.base) },
    { label: `${label}, ${whole(payments)} payments`, value: inMs(comparison.measured) },
    {
      label: `${label}: many ÷ few`,
      value: describeRatio(comparison),
      aim: { text: `at most ${ratioMax}`, isMet: comparison.ratio <= ratioMax },
    },
  ];
}

const bar = (label: string, value = Number.NaN, aim: number) =>
  ({ label, value, aim, better: 'lower', unit: 'ratio' }) as const;
