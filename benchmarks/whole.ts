import type { WholeLoadOptions, WholeLoadResult } from './whole-load.ts';
import { startOwnNetworks, type OwnNetworks } from './harness/own-networks.ts';
import { baselineCheckout, failureFigure, type Figure, type Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole as wholeNumber } from './harness/statistics.ts';
import { describeRatio, measureAlternately } from './harness/alternate.ts';
import type { Workbench } from './harness/workbench.ts';

const payersMax = 32;
const seconds = 8;
const rounds = 3;
// Twenty connections plan some forty statements each, and all code has to be compiled.
const warmUpSeconds = 10;
const baselineRounds = 4;
const baselineRatioMin = 3;
const processorMsMax = 4;

export const whole: Part = {
  name: 'whole',
  title: 'Whole payments',
  description:
    `A direct charge over POST /v1/payments, its attempt at a simulated network (over HTTP, in the same process), the ` +
    'network’s signed callback, the booking in the ledger and the event: from the request until all of it is committed. ' +
    `First as fast as ${payersMax} payments at once go, then at half that rate, where latency shows the work and not ` +
    'the queue. The client polls every 20 ms, which is in the latencies. With BASELINE_CHECKOUT, a checkout of an earlier commit ' +
    'with its packages, the same payments run there in turn. Last, the networks run in the process of the benchmark, with a database ' +
    'of their own.',
  async run(bench) {
    const service = await bench.startService();
    await pay(service, { payers: payersMax, seconds: warmUpSeconds });
    const baseline = await compareWithBaseline(bench, service);
    const apart = await withOwnNetworks(bench);
    const full: WholeLoadResult[] = [];
    const half: WholeLoadResult[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const most = await pay(service, { payers: payersMax, seconds });
      await service.settled();
      const rate = Math.max(1, Math.floor(most.paymentsPerSecond / 2));
      const steady = await pay(service, { payers: 4 * payersMax, paymentsPerSecond: rate, seconds });
      await service.settled();
      bench.log(`  round ${round}: ${wholeNumber(most.paymentsPerSecond)}/s; at ${rate}/s p95 ${inMs(steady.p95Ms)}`);
      full.push(most);
      half.push(steady);
    }
    await service.stop();
    const failures = [...full, ...half].reduce((sum, result) => sum + result.failures, 0);
    const middle = (results: WholeLoadResult[], field: keyof WholeLoadResult) =>
      median(results.map((result) => result[field]));
    const latencies = (results: WholeLoadResult[]) =>
      (['p50Ms', 'p95Ms', 'p99Ms'] as const).map((field) => inMs(middle(results, field))).join(', ');
    return {
      figures: [
        { label: `Payments a second, ${payersMax} at once`, value: wholeNumber(middle(full, 'paymentsPerSecond')) },
        { label: 'Latency p50, p95, p99 of these', value: latencies(full) },
        { label: 'Payments a second at half load', value: wholeNumber(middle(half, 'paymentsPerSecond')) },
        { label: 'Latency p50, p95, p99 at half load', value: latencies(half) },
        ...baseline,
        ...apart,
        failureFigure('Payments not booked', failures),
      ],
      bars: [
        { label: 'whole payment p50, half load', value: middle(half, 'p50Ms'), better: 'lower', unit: 'ms' },
        { label: 'whole payment p95, half load', value: middle(half, 'p95Ms'), better: 'lower', unit: 'ms' },
        { label: 'whole payment p99, half load', value: middle(half, 'p99Ms'), better: 'lower', unit: 'ms' },
      ],
    };
  },
};

/**
 * The same payments on a checkout of an earlier commit with its own database, in turn; with the processor time of each. Nothing
 * unless BASELINE_CHECKOUT names one.
 */
async function compareWithBaseline(bench: Workbench, service: Service): Promise<Figure[]> {
  const checkout = baselineCheckout();
  if (checkout === undefined) return [];
  const earlier = await bench.startService({ checkout });
  await pay(earlier, { payers: payersMax, seconds: warmUpSeconds });
  const costs = { measured: [] as number[], base: [] as number[] };
  const payOn = async (side: keyof typeof costs, { settled, ...target }: Service): Promise<number> => {
    const secondsSoFar = async () => processorSeconds(target.pid) + (await bench.databaseSeconds());
    const before = await secondsSoFar();
    const { paymentsPerSecond } = await pay({ settled, ...target }, { payers: payersMax, seconds });
    await settled();
    costs[side].push((((await secondsSoFar()) - before) * 1e3) / (paymentsPerSecond * seconds));
    return paymentsPerSecond;
  };
  const comparison = await measureAlternately(
    baselineRounds,
    { measured: () => payOn('measured', service), base: () => payOn('base', earlier) },
    (round, { measured, base }) =>
      bench.log(`  round ${round}: ${wholeNumber(measured)}/s, ${wholeNumber(base)}/s by the earlier commit`),
  );
  await earlier.stop();
  const cost = median(costs.measured);
  return [
    { label: 'Payments a second, in turn with an earlier commit', value: wholeNumber(comparison.measured) },
    { label: 'Payments a second of the earlier commit', value: wholeNumber(comparison.base) },
    {
      label: 'Ratio to the earlier commit',
      value: describeRatio(comparison),
      aim: { text: `at least ${baselineRatioMin}`, isMet: comparison.ratio >= baselineRatioMin },
    },
    {
      label: 'Processor time of a payment, service and database',
      value: inMs(cost),
      aim: { text: `at most ${processorMsMax} ms`, isMet: cost <= processorMsMax },
    },
    { label: 'The same of the earlier commit', value: inMs(median(costs.base)) },
  ];
}

/** The same with the simulated networks in another process and database: what the service and its own database take. */
async function withOwnNetworks(bench: Workbench): Promise<Figure[]> {
  const networks = await startOwnNetworks(bench);
  try {
    const service = await bench.startService({ settings: { INTERNAL_URL: networks.url } });
    await networks.serve(service);
    await pay(service, { payers: payersMax, seconds: warmUpSeconds });
    await service.settled();
    const results: { perSecond: number; serviceMs: number; networksMs: number; failures: number }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const before = await secondsOf(bench, service, networks);
      const { paymentsPerSecond: perSecond, failures } = await pay(service, { payers: payersMax, seconds });
      await service.settled();
      const after = await secondsOf(bench, service, networks);
      const each = (used: number) => (used * 1_000) / (perSecond * seconds);
      const networksMs = each(after.networks - before.networks);
      results.push({ perSecond, failures, serviceMs: each(after.service - before.service), networksMs });
    }
    await service.stop();
    const middle = (field: keyof (typeof results)[number]) => median(results.map((result) => result[field]));
    return [
      { label: 'Payments a second, the networks in another process', value: wholeNumber(middle('perSecond')) },
      { label: 'Processor time of service and database then', value: inMs(middle('serviceMs')) },
      { label: 'Processor time of the networks and their database', value: inMs(middle('networksMs')) },
      failureFigure(
        'Payments not booked then',
        results.reduce((sum, { failures }) => sum + failures, 0),
      ),
    ];
  } finally {
    await networks.close();
  }
}

async function secondsOf(bench: Workbench, service: Service, networks: OwnNetworks) {
  const ofTheirDatabase = await networks.databaseSeconds();
  const ofBoth = await bench.databaseSeconds();
  return {
    service: processorSeconds(service.pid) + ofBoth - ofTheirDatabase,
    networks: processorSeconds(process.pid) + ofTheirDatabase,
  };
}

export function pay(
  { url, key, adminUrl, merchantId }: Service,
  load: Pick<WholeLoadOptions, 'payers' | 'paymentsPerSecond' | 'subAccountGroupId' | 'seconds'>,
): Promise<WholeLoadResult> {
  const options: WholeLoadOptions = { url, key, adminUrl, merchantId, ...load };
  return runProgram('whole-load.ts', options);
}
