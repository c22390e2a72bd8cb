import type { PayoutLoadOptions, PayoutLoadResult } from './payout-load.ts';
import { failureFigure, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, whole } from './harness/statistics.ts';

const ratesPerSecond = [400, 300, 200, 150, 100, 50] as const;
const [targetRate] = ratesPerSecond;
const lowestPerSecond = 20;
const seconds = 20;
const trySeconds = 4;
const warmUpSeconds = 8;
const warmUpPerSecond = 50;
// The part of the started transfers that is accepted and has arrived by the end of the last second.
const sustainedShare = 0.95;
const p95MaxMs = 100;

export const payouts: Part = {
  name: 'payouts',
  title: 'From an accepted transfer to the network',
  description:
    `POST /v1/transfers at a steady rate for ${seconds} s, started by the clock, of one merchant to one simulated network: ` +
    'the time from the response 201 to the arrival at the network. One service process is API, worker and network, and ' +
    'books the outcome. The client and the database share its cores; where ' +
    `${targetRate} a second are more than they can do (each payout is some ten transactions), it measures the highest ` +
    'sustained rate and compares that with the aim.',
  async run(bench) {
    const service = await bench.startService();
    await payOut(service, { transfersPerSecond: warmUpPerSecond, seconds: warmUpSeconds });
    await service.settled();
    const rate = await findRate(service, (sentence) => bench.log(sentence));
    const result = await payOut(service, { transfersPerSecond: rate, seconds });
    await service.settled();
    await service.stop();
    return {
      figures: [
        {
          label: 'Transfers begun a second',
          value: rate === targetRate ? whole(rate) : `${whole(rate)}, the most that this machine keeps up`,
          aim: { text: `${targetRate}`, isMet: rate === targetRate },
        },
        { label: 'Accepted a second', value: whole(result.acceptedPerSecond) },
        { label: 'Received by the network a second', value: whole(result.receivedPerSecond) },
        {
          label: `From the answer to the network, p95, at ${whole(rate)} a second`,
          value: inMs(result.p95Ms),
          aim: { text: `under ${p95MaxMs} ms`, isMet: result.p95Ms < p95MaxMs },
        },
        { label: 'The same, p50 and p99', value: [result.p50Ms, result.p99Ms].map(inMs).join(', ') },
        failureFigure('Transfers that did not get there', result.failures),
      ],
      bars: [
        {
          label: `accepted to network p95, ${whole(rate)}/s`,
          value: result.p95Ms,
          aim: p95MaxMs,
          better: 'lower',
          unit: 'ms',
        },
      ],
    };
  },
};

/** The highest rate that client, service and network sustain. */
async function findRate(service: Service, log: (sentence: string) => void): Promise<number> {
  for (const rate of ratesPerSecond) {
    const result = await payOut(service, { transfersPerSecond: rate, seconds: trySeconds });
    await service.settled();
    const { acceptedPerSecond, receivedPerSecond, p95Ms } = result;
    log(`  ${rate}/s: ${whole(acceptedPerSecond)} accepted, ${whole(receivedPerSecond)} received, p95 ${inMs(p95Ms)}`);
    if (Math.min(acceptedPerSecond, receivedPerSecond) >= sustainedShare * rate) return rate;
  }
  return lowestPerSecond;
}

function payOut(
  { url, key, adminUrl, merchantId }: Service,
  load: Pick<PayoutLoadOptions, 'transfersPerSecond' | 'seconds'>,
): Promise<PayoutLoadResult> {
  const options: PayoutLoadOptions = { url, key, adminUrl, merchantId, ...load };
  return runProgram('payout-load.ts', options, { measuresLatency: true });
}
