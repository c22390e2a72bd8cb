import type { BareLoopOptions, BareLoopResult } from './bare-loop.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import type { MerchantWithKey } from './harness/add-merchants.ts';
import { failureFigure, type Figure, type Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole } from './harness/statistics.ts';
import { transferBody, transferPath } from './harness/transfer-statements.ts';
import { describeRatio, measureAlternately, type Comparison } from './harness/alternate.ts';
import type { Workbench } from './harness/workbench.ts';

const connections = 32;
const merchantsMany = 32;
const seconds = 3;
const rounds = 4;
const warmUpSeconds = 3;
const ratioMin = 0.6;

export const transfers: Part = {
  name: 'transfers',
  title: 'Accepting transfers over HTTP',
  description:
    `POST /v1/transfers on ${connections} connections, each request with an Idempotency-Key of its own, against one ` +
    'service process, beside a bare loop that runs the same statements in the same transaction on the same database on ' +
    `${connections} connections through the same driver, and waits where the service needs a result: whether ` +
    'the key is new, and the locked balance. Both are durable. The process serves the API only (ROLE=api), so ' +
    'accepted transfers are not sent meanwhile. One merchant means one balance, which all transfers lock one after ' +
    `the other; of ${merchantsMany} merchants each has a connection. Both alternate; ratios are medians over the rounds.`,
  async run(bench) {
    const service = await bench.startService({ role: 'api' });
    const demo = [{ merchantId: service.merchantId, key: service.key }];
    const one = await compare(bench, service, demo);
    const many = await compare(bench, service, await service.addMerchants(merchantsMany));
    await service.stop();
    const failures = one.failures + many.failures;
    return {
      figures: [
        ...figuresOf('one merchant', one),
        ...figuresOf(`${merchantsMany} merchants`, many),
        failureFigure('Requests that failed', failures),
      ],
      bars: [
        {
          label: 'transfers ÷ bare loop, one merchant',
          value: one.comparison.ratio,
          aim: ratioMin,
          better: 'higher',
          unit: 'ratio',
        },
        {
          label: 'transfers ÷ bare loop, many',
          value: many.comparison.ratio,
          aim: ratioMin,
          better: 'higher',
          unit: 'ratio',
        },
      ],
    };
  },
};

interface Compared {
  comparison: Comparison;
  http: HttpLoadResult[];
  /** Processor time for each transfer, in microseconds. */
  serviceUs: number[];
  bareUs: number[];
  failures: number;
}

async function compare(bench: Workbench, service: Service, merchants: MerchantWithKey[]): Promise<Compared> {
  await accepted(service, merchants, warmUpSeconds);
  await bareLoop(service, merchants, warmUpSeconds);
  const http: HttpLoadResult[] = [];
  const [serviceUs, bareUs]: [number[], number[]] = [[], []];
  const measured = async (): Promise<number> => {
    const secondsBefore = processorSeconds(service.pid);
    const result = await accepted(service, merchants, seconds);
    serviceUs.push(((processorSeconds(service.pid) - secondsBefore) * 1e6) / result.responses);
    http.push(result);
    return result.requestsPerSecond;
  };
  const base = async (): Promise<number> => {
    const { transactionsPerSecond, processorUs } = await bareLoop(service, merchants, seconds);
    bareUs.push(processorUs);
    return transactionsPerSecond;
  };
  const comparison = await measureAlternately(rounds, { measured, base }, (round, figures) =>
    bench.log(
      `  round ${round}, merchants: ${merchants.length}: ${whole(figures.measured)}/s over HTTP, ` +
        `${whole(figures.base)}/s in the bare loop`,
    ),
  );
  return { comparison, http, serviceUs, bareUs, failures: http.reduce((sum, result) => sum + result.failures, 0) };
}

function figuresOf(scope: string, { comparison, http, serviceUs, bareUs }: Compared): Figure[] {
  const latency = (percentile: 'p50Ms' | 'p95Ms' | 'p99Ms') => inMs(median(http.map((result) => result[percentile])));
  return [
    { label: `Transfers a second over HTTP, ${scope}`, value: whole(comparison.measured) },
    { label: `Transactions a second in the bare loop, ${scope}`, value: whole(comparison.base) },
    {
      label: `Ratio, ${scope}`,
      value: describeRatio(comparison),
      aim: { text: `${ratioMin}`, isMet: comparison.ratio >= ratioMin },
    },
    {
      label: `Latency p50, p95, p99, ${scope}`,
      value: [latency('p50Ms'), latency('p95Ms'), latency('p99Ms')].join(', '),
    },
    {
      label: `Processor time of service and bare loop for a transfer, ${scope}`,
      value: [serviceUs, bareUs].map((figuresUs) => `${whole(median(figuresUs))} µs`).join(', '),
    },
  ];
}

function accepted({ url }: Service, merchants: MerchantWithKey[], forSeconds: number): Promise<HttpLoadResult> {
  const options: HttpLoadOptions = {
    url,
    key: merchants.map(({ key }) => key),
    path: transferPath,
    body: transferBody,
    idempotent: true,
    connections,
    seconds: forSeconds,
  };
  return runProgram('http-load.ts', options);
}

function bareLoop({ appUrl }: Service, merchants: MerchantWithKey[], forSeconds: number): Promise<BareLoopResult> {
  const options: BareLoopOptions = {
    appUrl,
    request: 'transfer',
    merchantIds: merchants.map(({ merchantId }) => merchantId),
    connections,
    seconds: forSeconds,
  };
  return runProgram('bare-loop.ts', options);
}
