import type { WholeLoadOptions, WholeLoadResult } from './whole-load.ts';
import { failureFigure } from './harness/part.ts';
import type { Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole as wholeNumber } from './harness/statistics.ts';

const payersMax = 32;
const seconds = 8;
const rounds = 3;
// Twenty connections plan some forty statements each, and all code has to be compiled.
const warmUpSeconds = 10;

export const whole: Part = {
  name: 'whole',
  title: 'Whole payments',
  description:
    `A direct charge over POST /v1/payments, its attempt at a simulated network (over HTTP, in the same process), the ` +
    'network’s signed callback, the booking in the ledger and the event: from the request until all of it is committed. ' +
    `First as fast as ${payersMax} payments at once go, then at half that rate, where latency shows the work and not ` +
    'the queue. The client polls every 5 ms, which is in the latencies.',
  async run(bench) {
    const service = await bench.startService();
    await pay(service, { payers: payersMax, seconds: warmUpSeconds });
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

export function pay(
  { url, key, adminUrl, merchantId }: Service,
  load: Pick<WholeLoadOptions, 'payers' | 'paymentsPerSecond' | 'subAccountGroupId' | 'seconds'>,
): Promise<WholeLoadResult> {
  const options: WholeLoadOptions = { url, key, adminUrl, merchantId, ...load };
  return runProgram('whole-load.ts', options);
}
