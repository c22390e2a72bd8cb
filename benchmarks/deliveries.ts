import { backlog, compareWithLoop } from './delivery-speed.ts';
import type { EventLoadOptions, EventLoadResult } from './event-load.ts';
import { Arrivals } from './harness/arrivals.ts';
import { startEventReceiver } from './harness/event-receiver.ts';
import { failureFigure, type Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { inMs, latenciesOf, whole } from './harness/statistics.ts';
import { systemClock } from '../server/src/kit/clock.ts';

const eventsPerSecond = 200;
const seconds = 20;
const warmUpSeconds = 12;
const merchants = 10;
const drainMs = 3_000;
const p95MaxMs = 50;

export const deliveries: Part = {
  name: 'deliveries',
  title: 'Deliveries of events',
  description:
    `Customers of ${merchants} merchants are made at ${eventsPerSecond} a second for ${seconds} s, and ${warmUpSeconds} s ` +
    'before, by another process, each in one transaction with its event: the time from the commit to the moment in ' +
    'which the merchant’s server, on this machine, has the event. ' +
    `Then ${whole(backlog)} deliveries to one endpoint are due at once: how many a second one worker makes, claimed, ` +
    'signed, sent and recorded, beside a bare loop of the same client that posts one of these ' +
    'very requests again and again to the same server, on as many connections as the worker used. Both alternate; ' +
    'the ratio is the median over the rounds.',
  async run(bench) {
    const arrivals = new Arrivals();
    // A separate server, so that the connections of the backlog can be counted.
    const steady = await startEventReceiver((event) => arrivals.record(event));
    const receiver = await startEventReceiver((event) => arrivals.record(event));
    try {
      const service = await bench.startService();
      const urls = Array.from({ length: merchants }, (_, number) => `${steady.url}/steady/${number}`);
      const latency = await measureLatency(service, urls, arrivals);
      const speed = await compareWithLoop(bench, { service, receiver, arrivals });
      await service.stop();
      return { figures: [...latency.figures, ...speed.figures], bars: [...latency.bars, ...speed.bars] };
    } finally {
      await Promise.all([steady.close(), receiver.close()]);
    }
  },
};

async function measureLatency(service: Service, urls: readonly string[], arrivals: Arrivals) {
  const subscribers = await service.addSubscribers(urls);
  const merchantIds = subscribers.map(({ merchantId }) => merchantId);
  const loads = [{ merchantIds, perSecond: eventsPerSecond }];
  const options: EventLoadOptions = { appUrl: service.appUrl, warmUpSeconds, seconds, loads };
  const receivedAtMs = arrivals.receivedAtByObject();
  const secondsBefore = processorSeconds(service.pid);
  const { committedAtMs } = await runProgram<EventLoadResult>('event-load.ts', options);
  const processorSecondsUsed = processorSeconds(service.pid) - secondsBefore;
  await systemClock.sleep(drainMs);
  const committed = Object.entries(committedAtMs[0] ?? {});
  // The warm-up created events too.
  const processorMs = (processorSecondsUsed / (warmUpSeconds + seconds) / eventsPerSecond) * 1_000;
  const durationsMs = committed.flatMap(([id, committedAt]) => {
    const receivedAt = receivedAtMs.get(id);
    return receivedAt === undefined ? [] : [Math.max(0, receivedAt - committedAt)];
  });
  const { p50Ms, p95Ms, p99Ms } = latenciesOf(durationsMs);
  const missing = committed.length - durationsMs.length;
  return {
    figures: [
      { label: 'Events, and a second', value: `${whole(committed.length)}, ${whole(committed.length / seconds)}` },
      {
        label: 'From the commit to the receiver, p95',
        value: inMs(p95Ms),
        aim: { text: `under ${p95MaxMs} ms`, isMet: p95Ms < p95MaxMs },
      },
      { label: 'The same, p50 and p99', value: [p50Ms, p99Ms].map(inMs).join(', ') },
      { label: 'Processor time of the service for an event', value: inMs(processorMs) },
      failureFigure('Events that did not come', missing),
    ],
    bars: [
      {
        label: `commit to receiver p95, ${eventsPerSecond}/s`,
        value: p95Ms,
        aim: p95MaxMs,
        better: 'lower' as const,
        unit: 'ms' as const,
      },
    ],
  };
}
