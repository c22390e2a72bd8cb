import type { BareLoopOptions, BareLoopResult } from './bare-loop.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import { failureFigure, type Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole } from './harness/statistics.ts';
import { describeRatio, measureAlternately } from './harness/alternate.ts';

const connections = 32;
const seconds = 4;
const rounds = 7;
const warmUpSeconds = 4;
const ratioMin = 0.6;
const ratioHoped = 1;

export const create: Part = {
  name: 'create',
  title: 'Creating intents over HTTP',
  description:
    `POST /v1/payments on ${connections} connections against one service process (API and workers), beside a bare ` +
    `loop that runs the same statements in the same transaction on the same database on ${connections} connections ` +
    'through the same driver. Both are durable: a response means that the disk has it. They alternate; the ratio is ' +
    'the median over the rounds, with the lowest and the highest.',
  async run(bench) {
    const service = await bench.startService();
    await creations(service, warmUpSeconds);
    await bareLoop(service, warmUpSeconds);
    const http: HttpLoadResult[] = [];
    const [serviceUs, bareUs]: [number[], number[]] = [[], []];
    const measured = async (): Promise<number> => {
      const secondsBefore = processorSeconds(service.pid);
      const result = await creations(service, seconds);
      await service.settled();
      http.push(result);
      serviceUs.push(((processorSeconds(service.pid) - secondsBefore) * 1e6) / result.responses);
      return result.requestsPerSecond;
    };
    const base = async (): Promise<number> => {
      const { transactionsPerSecond, processorUs } = await bareLoop(service, seconds);
      bareUs.push(processorUs);
      return transactionsPerSecond;
    };
    const comparison = await measureAlternately(rounds, { measured, base }, (round, figures) =>
      bench.log(`  round ${round}: ${whole(figures.measured)}/s over HTTP, ${whole(figures.base)}/s in the bare loop`),
    );
    await service.stop();
    const failures = http.reduce((sum, result) => sum + result.failures, 0);
    const latency = (percentile: 'p50Ms' | 'p95Ms' | 'p99Ms') => inMs(median(http.map((result) => result[percentile])));
    return {
      figures: [
        { label: 'Intents a second over HTTP', value: whole(comparison.measured) },
        { label: 'Transactions a second in the bare loop', value: whole(comparison.base) },
        {
          label: 'Ratio',
          value: describeRatio(comparison),
          aim: { text: `${ratioMin} now, ${ratioHoped} later`, isMet: comparison.ratio >= ratioMin },
        },
        { label: 'Latency p50, p95, p99', value: [latency('p50Ms'), latency('p95Ms'), latency('p99Ms')].join(', ') },
        {
          label: 'Processor time of the service for an intent',
          value: inUs(serviceUs),
        },
        { label: 'The same of the bare loop', value: inUs(bareUs) },
        failureFigure('Requests that failed', failures),
      ],
      bars: [
        { label: 'creation ÷ bare loop', value: comparison.ratio, aim: ratioMin, better: 'higher', unit: 'ratio' },
      ],
    };
  },
};

const inUs = (figuresUs: number[]): string => `${whole(median(figuresUs))} µs`;

function creations({ url, key }: Service, forSeconds: number): Promise<HttpLoadResult> {
  const options: HttpLoadOptions = {
    url,
    key,
    path: '/v1/payments',
    body: creationBody,
    connections,
    seconds: forSeconds,
  };
  return runProgram('http-load.ts', options);
}

function bareLoop({ appUrl, merchantId }: Service, forSeconds: number): Promise<BareLoopResult> {
  const options: BareLoopOptions = {
    appUrl,
    request: 'creation',
    merchantIds: [merchantId],
    connections,
    seconds: forSeconds,
  };
  return runProgram('bare-loop.ts', options);
}
