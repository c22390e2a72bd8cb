import type { BareLoopOptions, BareLoopResult } from './bare-loop.ts';
import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import type { Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { compare, describeRatio, inHundredths, inMs, median, whole } from './harness/statistics.ts';

const connections = 32;
const seconds = 4;
const rounds = 7;
const warmUpSeconds = 4;
const ratioMin = 0.6;
const ratioHoped = 1;

export const create: Part = {
  name: 'create',
  title: 'Creating intents over HTTP',
  meaning:
    `POST /v1/payments on ${connections} connections against one service process (API and workers), beside a bare ` +
    `loop that runs the same statements in the same transaction on the same database on ${connections} connections ` +
    'through the same driver. Both are durable: an answer means that the disk has it. They take turns; the ratio is ' +
    'the median over the rounds, with the lowest and the highest.',
  async run(bench) {
    const service = await bench.startService();
    await creations(service, warmUpSeconds);
    await bareLoop(service, warmUpSeconds);
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const secondsBefore = processorSeconds(service.pid);
      const http = await creations(service, seconds);
      await service.settled();
      const serviceUs = ((processorSeconds(service.pid) - secondsBefore) * 1e6) / http.answered;
      const bare = await bareLoop(service, seconds);
      measured.push({ http, bare, serviceUs });
      const rates = `${whole(http.requestsPerSecond)}/s over HTTP, ${whole(bare.transactionsPerSecond)}/s in the bare loop`;
      bench.tell(`  round ${round}: ${rates}; ${whole(serviceUs)} and ${whole(bare.processorUs)} µs of processor time`);
    }
    await service.stop();
    const comparison = compare(
      measured.map(({ http, bare }) => ({ measured: http.requestsPerSecond, base: bare.transactionsPerSecond })),
    );
    const failures = measured.reduce((sum, { http }) => sum + http.failures, 0);
    const latency = (of: 'p50Ms' | 'p95Ms' | 'p99Ms') => inMs(median(measured.map(({ http }) => http[of])));
    return {
      figures: [
        { label: 'Intents a second over HTTP', value: whole(comparison.measured) },
        { label: 'Transactions a second in the bare loop', value: whole(comparison.base) },
        {
          label: 'Ratio',
          value: describeRatio(comparison),
          aim: { text: `${ratioMin} now, ${inHundredths(ratioHoped)} later`, isMet: comparison.ratio >= ratioMin },
        },
        { label: 'Latency p50, p95, p99', value: [latency('p50Ms'), latency('p95Ms'), latency('p99Ms')].join(', ') },
        {
          label: 'Processor time of the service for an intent',
          value: inUs(measured.map(({ serviceUs }) => serviceUs)),
        },
        { label: 'The same of the bare loop', value: inUs(measured.map(({ bare }) => bare.processorUs)) },
        { label: 'Requests that failed', value: whole(failures), aim: { text: '0', isMet: failures === 0 } },
      ],
      bars: [
        { label: 'creation ÷ bare loop', value: comparison.ratio, aim: ratioMin, better: 'higher', unit: 'ratio' },
      ],
    };
  },
};

interface Round {
  http: HttpLoadResult;
  bare: BareLoopResult;
  /** Processor time of the service process for each intent, its workers' part included. */
  serviceUs: number;
}

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
  const options: BareLoopOptions = { appUrl, merchantId, connections, seconds: forSeconds };
  return runProgram('bare-loop.ts', options);
}
