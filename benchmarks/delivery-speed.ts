import type { Arrivals } from './harness/arrivals.ts';
import type { EventReceiver, ReceivedEvent } from './harness/event-receiver.ts';
import { fillDeliveries, vacuumDeliveries } from './harness/fill-deliveries.ts';
import { flatness, sampleMemory, type Flatness } from './harness/memory-samples.ts';
import { failureFigure, type Measured } from './harness/part.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { whole } from './harness/statistics.ts';
import { describeRatio, measureAlternately, type Comparison } from './harness/alternate.ts';
import type { Workbench } from './harness/workbench.ts';
import type { PostLoopOptions, PostLoopResult } from './post-loop.ts';

export const backlog = 20_000;
const warmUpBacklog = 4_000;
const loopSeconds = 4;
const rounds = 4;
const ratioMin = 0.5;
const growthMax = 1.2;

/** How fast one worker sends a backlog of one endpoint, beside a loop that only posts. */
export async function compareWithLoop(
  bench: Pick<Workbench, 'log'>,
  { service, receiver, arrivals }: { service: Service; receiver: EventReceiver; arrivals: Arrivals },
) {
  const url = `${receiver.url}/backlog`;
  const [{ merchantId } = { merchantId: '' }] = await service.addSubscribers([url]);
  const connections: number[] = [];
  const samplesMib: number[] = [];
  let repeated = 0;
  let failures = 0;
  const delivered = async (count = backlog): Promise<number> => {
    receiver.resetConnectionCount();
    const counted = arrivals.count(count);
    await fillDeliveries(service.adminUrl, { deliveries: count, merchantIds: [merchantId] });
    const memory = sampleMemory(service.pid);
    const perSecond = await counted;
    samplesMib.push(...(await memory.stop()));
    connections.push(receiver.resetConnectionCount());
    repeated += arrivals.repeated;
    await vacuumDeliveries(service.adminUrl);
    return perSecond;
  };
  const bareLoop = async (): Promise<number> => {
    const { headers, body } = arrivals.sample;
    const options: PostLoopOptions = {
      url,
      headers: withoutOwn(headers),
      body: body.toString(),
      connections: Math.max(...connections),
      seconds: loopSeconds,
    };
    const result = await runProgram<PostLoopResult>('post-loop.ts', options);
    failures += result.failures;
    return result.postsPerSecond;
  };
  await delivered(warmUpBacklog);
  samplesMib.length = 0;
  const comparison = await measureAlternately(
    rounds,
    { measured: () => delivered(), base: bareLoop },
    (round, figures) =>
      bench.log(`  round ${round}: ${whole(figures.measured)}/s delivered, ${whole(figures.base)}/s of the bare loop`),
  );
  return describe(comparison, {
    memory: flatness(samplesMib),
    connectionsMax: Math.max(...connections),
    faults: repeated + failures,
  });
}

function describe(
  comparison: Comparison,
  others: { memory: Flatness; connectionsMax: number; faults: number },
): Measured {
  const { memory, connectionsMax, faults } = others;
  return {
    figures: [
      { label: 'Deliveries a second, one endpoint', value: whole(comparison.measured) },
      { label: 'Posts a second of the bare loop', value: whole(comparison.base) },
      { label: 'Connections to the endpoint, at most', value: whole(connectionsMax) },
      {
        label: 'Ratio',
        value: describeRatio(comparison),
        aim: { text: `at least ${ratioMin}`, isMet: comparison.ratio >= ratioMin },
      },
      {
        label: 'Memory, first and last third of the rounds',
        value: `${whole(memory.firstMib)} MiB, ${whole(memory.lastMib)} MiB`,
        aim: { text: `at most ${growthMax} times`, isMet: memory.ratio <= growthMax },
      },
      failureFigure('Deliveries that came twice, or failed', faults),
    ],
    bars: [
      {
        label: 'deliveries ÷ bare loop',
        value: comparison.ratio,
        aim: ratioMin,
        better: 'higher',
        unit: 'ratio',
      },
    ],
  };
}

/** Without the headers that the client adds. */
function withoutOwn(headers: ReceivedEvent['headers']): Record<string, string> {
  const own = ['host', 'connection', 'content-length'];
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (own.includes(name) ? [] : [[name, String(value)]])),
  );
}
