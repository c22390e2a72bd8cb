import type { EventLoadOptions, EventLoadResult } from './event-load.ts';
import type { Subscriber } from './harness/add-subscribers.ts';
import { startEventReceiver, type ReceivedEvent } from './harness/event-receiver.ts';
import { flatness, sampleMemory } from './harness/memory-samples.ts';
import { failureFigure, type Figure, type Part } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, latenciesOf, whole, type Latencies } from './harness/statistics.ts';
import { systemClock } from '../server/src/kit/clock.ts';

const healthyMerchants = 99;
const healthyPerSecond = 99;
const disturbedPerSecond = 200;
// Two cores have to create these events, and to serve the measured merchants.
const disturbedPerCommit = 10;
const manyHanging = 10;
const warmUpSeconds = 12;
const seconds = 30;
// Longer than the timeout of a request, so that permits are released and acquired again during the measurement.
const hangingSeconds = 50;
const drainMs = 2_000;
const ratioMax = 2;
const growthMax = 1.2;

export const hanging: Part = {
  name: 'hanging',
  title: 'Receivers that hang',
  description:
    `${healthyMerchants} merchants have ${healthyPerSecond} events a second together, each committed with its change by ` +
    'another process: the time from the commit to the arrival at the merchant’s server. First alone; then ' +
    `while another merchant has ${disturbedPerSecond} events a second, ${disturbedPerCommit} in a transaction, and ` +
    'responds; then one whose endpoint accepts requests and never responds, so that each ends after 15 s; then ' +
    `${manyHanging} more such, which have as many together. ` +
    `Memory is that of the service process while receivers hang. The first ${warmUpSeconds} s of each step are not counted.`,
  async run(bench) {
    const arrivals = new Map<string, number>();
    const receiver = await startEventReceiver((event) => recordArrival(event, arrivals));
    try {
      // Each endpoint that hangs logs a warning.
      const service = await bench.startService({ settings: { LOG_LEVEL: 'error' } });
      const addEndpoints = (kind: string, count: number) =>
        service.addSubscribers(Array.from({ length: count }, (_, number) => `${receiver.url}/${kind}/${number}`));
      const healthy = await addEndpoints('healthy', healthyMerchants);
      const [responding, one, many] = [
        await addEndpoints('healthy', 1),
        await addEndpoints('hangs', 1),
        await addEndpoints('hangs', manyHanging),
      ];
      const measure = (others: readonly Subscriber[], forSeconds: number): Promise<Delays> =>
        measureDelays(service, arrivals, { healthy, others, seconds: forSeconds });
      const alone = await measure([], seconds);
      const busy = await measure(responding, seconds);
      const memory = sampleMemory(service.pid);
      const oneHangs = await measure(one, hangingSeconds);
      const manyHang = await measure(many, hangingSeconds);
      const samplesMib = await memory.stop();
      for (const [phase, delays] of Object.entries({ alone, busy, oneHangs, manyHang })) {
        bench.log(`  ${phase}: p99 ${inMs(delays.p99Ms)} of ${whole(delays.events)}, ${whole(delays.missing)} missing`);
      }
      await service.stop();
      return describe({ alone, busy, oneHangs, manyHang }, flatness(samplesMib));
    } finally {
      await receiver.close();
    }
  },
};

interface Delays extends Latencies {
  events: number;
  missing: number;
  othersPerSecond: number;
}

function recordArrival({ path, body, atMs }: ReceivedEvent, arrivals: Map<string, number>): 'respond' | 'hang' {
  if (path.startsWith('/hangs')) return 'hang';
  const { data } = JSON.parse(body.toString()) as { data: { id: string } };
  if (!arrivals.has(data.id)) arrivals.set(data.id, atMs);
  return 'respond';
}

async function measureDelays(
  { appUrl }: Service,
  arrivals: Map<string, number>,
  load: { healthy: readonly Subscriber[]; others: readonly Subscriber[]; seconds: number },
): Promise<Delays> {
  const idsOf = (subscribers: readonly Subscriber[]) => subscribers.map(({ merchantId }) => merchantId);
  const loads: EventLoadOptions['loads'] = [{ merchantIds: idsOf(load.healthy), perSecond: healthyPerSecond }];
  if (load.others.length > 0) {
    const merchantIds = idsOf(load.others);
    loads.push({ merchantIds, perSecond: disturbedPerSecond, eventsPerCommit: disturbedPerCommit });
  }
  const options: EventLoadOptions = { appUrl, warmUpSeconds, seconds: load.seconds, loads };
  const { committedAtMs } = await runProgram<EventLoadResult>('event-load.ts', options);
  await systemClock.sleep(drainMs);
  const checkedAtMs = performance.timeOrigin + performance.now();
  const committed = Object.entries(committedAtMs[0] ?? {});
  // An event that has not arrived has taken at least until now.
  const durationsMs = committed.map(([id, addEndpoints]) =>
    Math.max(0, (arrivals.get(id) ?? checkedAtMs) - addEndpoints),
  );
  const missing = committed.filter(([id]) => !arrivals.has(id)).length;
  const othersPerSecond = Object.keys(committedAtMs[1] ?? {}).length / load.seconds;
  return { ...latenciesOf(durationsMs), events: committed.length, missing, othersPerSecond };
}

function describe(
  delays: Record<'alone' | 'busy' | 'oneHangs' | 'manyHang', Delays>,
  memory: ReturnType<typeof flatness>,
) {
  const { alone, busy, oneHangs, manyHang } = delays;
  const percentiles = ({ p50Ms, p95Ms, p99Ms }: Latencies) => [p50Ms, p95Ms, p99Ms].map(inMs).join(', ');
  const ratios = [oneHangs.p99Ms / alone.p99Ms, manyHang.p99Ms / alone.p99Ms] as const;
  const ratioFigure = (scope: string, ratio: number): Figure => ({
    label: `p99 ÷ that without, ${scope}`,
    value: ratio.toFixed(2),
    aim: { text: `under ${ratioMax}`, isMet: ratio < ratioMax },
  });
  const missing = [alone, busy, oneHangs, manyHang].reduce((sum, each) => sum + each.missing, 0);
  const made = [busy, oneHangs, manyHang].map(({ othersPerSecond }) => whole(othersPerSecond)).join(', ');
  const bar = (label: string, value: number) => ({
    label,
    value,
    aim: ratioMax,
    better: 'lower' as const,
    unit: 'ratio' as const,
  });
  return {
    figures: [
      { label: `The ${healthyMerchants} alone, p50, p95, p99`, value: percentiles(alone) },
      { label: 'Beside a busy one who answers', value: percentiles(busy) },
      { label: 'Beside one who hangs', value: percentiles(oneHangs) },
      { label: `Beside ${manyHanging} who hang`, value: percentiles(manyHang) },
      ratioFigure('one hangs', ratios[0]),
      ratioFigure(`${manyHanging} hang`, ratios[1]),
      { label: 'Events a second of the others, in turn', value: made },
      {
        label: 'Memory, first and last third while some hang',
        value: `${whole(memory.firstMib)} MiB, ${whole(memory.lastMib)} MiB`,
        aim: { text: `at most ${growthMax} times`, isMet: memory.ratio <= growthMax },
      },
      failureFigure('Healthy ones’ events that did not come', missing),
    ],
    bars: [
      bar('p99 of the others, one hangs ÷ none', ratios[0]),
      bar(`p99 of the others, ${manyHanging} hang ÷ none`, ratios[1]),
    ],
  };
}
