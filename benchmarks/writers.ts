import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import { failureFigure, type Figure, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, whole } from './harness/statistics.ts';
import { describeRatio, measureAlternately, type Comparison } from './harness/alternate.ts';
import type { WholeLoadResult } from './whole-load.ts';
import { pay } from './whole.ts';

const few = 8;
const many = 64;
const seconds = 5;
const rounds = 4;
const warmUpSeconds = 3;
// Promise L2: one account, a hundred writers.
const crowd = 100;
const crowdSeconds = 20;
const crowdPerSecondMin = 150;
const crowdP99MaxMs = 2_000;

export const writers: Part = {
  name: 'writers',
  title: 'One merchant with few and with many writers',
  description:
    `One merchant, ${few} writers and ${many} writers alternately: whole payments, which all book on the same accounts of ` +
    `the merchant, and creations. More writers must not be slower: nobody queues on a balance. Then ${crowd} writers for ` +
    `${crowdSeconds} s; the time of a payment is from its request to its booking.`,
  async run(bench) {
    const service = await bench.startService();
    await pay(service, { payers: many, seconds: warmUpSeconds });
    const booking = await measureAlternately(
      rounds,
      { measured: () => booked(service, many), base: () => booked(service, few) },
      (round, { measured, base }) => bench.log(`  round ${round}: booked ${whole(base)}/s and ${whole(measured)}/s`),
    );
    const creation = await measureAlternately(
      rounds,
      { measured: () => created(service, many), base: () => created(service, few) },
      (round, { measured, base }) => bench.log(`  round ${round}: created ${whole(base)}/s and ${whole(measured)}/s`),
    );
    const crowded = await pay(service, { payers: crowd, seconds: crowdSeconds });
    await service.stop();
    return {
      figures: [
        ...figuresOf('Payments booked', booking),
        ...figuresOf('Intents created', creation),
        ...crowdFigures(crowded),
      ],
      bars: [
        { label: `booked, ${many} ÷ ${few} writers`, value: booking.ratio, aim: 1, better: 'higher', unit: 'ratio' },
        { label: `created, ${many} ÷ ${few} writers`, value: creation.ratio, aim: 1, better: 'higher', unit: 'ratio' },
      ],
    };
  },
};

function crowdFigures({ paymentsPerSecond, p99Ms, failures }: WholeLoadResult): Figure[] {
  return [
    {
      label: `Payments booked a second, ${crowd} writers`,
      value: whole(paymentsPerSecond),
      aim: { text: `at least ${crowdPerSecondMin}`, isMet: paymentsPerSecond >= crowdPerSecondMin },
    },
    {
      label: 'The p99 of these',
      value: inMs(p99Ms),
      aim: { text: `under ${crowdP99MaxMs} ms`, isMet: p99Ms < crowdP99MaxMs },
    },
    failureFigure('Payments of these not booked', failures),
  ];
}

async function booked(service: Service, payers: number): Promise<number> {
  const { paymentsPerSecond } = await pay(service, { payers, seconds });
  await service.settled();
  return paymentsPerSecond;
}

async function created(service: Service, connections: number): Promise<number> {
  const { url, key } = service;
  const options: HttpLoadOptions = { url, key, path: '/v1/payments', body: creationBody, connections, seconds };
  const { requestsPerSecond } = await runProgram<HttpLoadResult>('http-load.ts', options);
  await service.settled();
  return requestsPerSecond;
}

function figuresOf(what: string, comparison: Comparison): Figure[] {
  return [
    { label: `${what} a second, ${few} writers`, value: whole(comparison.base) },
    { label: `${what} a second, ${many} writers`, value: whole(comparison.measured) },
    {
      label: `${what}: ${many} ÷ ${few} writers`,
      value: describeRatio(comparison),
      aim: { text: 'not below 1', isMet: comparison.ratio >= 1 },
    },
  ];
}
