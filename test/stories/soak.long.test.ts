import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { elapse } from '../harness/elapse.ts';
import { eventually } from '../harness/eventually.ts';
import { FragileService } from '../harness/fragile-service.ts';
import { memorySlope, openFiles, sampleProcess, type ProcessSample } from '../harness/memory-samples.ts';
import { ProcessWorld } from '../harness/process.ts';
import { SteadyLoad } from '../harness/steady-load.ts';

// Load for an hour, or for SOAK_HOURS before a release, while another process of the service is restarted or killed, receivers of events
// fail or never respond, and networks decline, time out and go down. The process that lives through all of it may not grow.

const minuteMs = 60_000;
const hours = Number(process.env['SOAK_HOURS'] ?? 1);
const settlingMs = Math.min(hours / 3, 1) * 60 * minuteMs;
const blockMs = 2 * minuteMs;
const slopeMaxMiB = 1;
const queuesEmptyMs = 10 * minuteMs;
// Of any queue; autovacuum comes by after every fifth of a table's rows.
const deadRowsMax = 200_000;
const filesMax = 5;

// Approved, declined, without funds, timed out with either outcome, reported three times, down.
const accountNumbers = [
  '7000001',
  '7000002',
  '7000001',
  '7000003',
  '7000005',
  '7000001',
  '7000006',
  '7000007',
  '7000008',
];

let world: ProcessWorld;
let receiver: CallbackReceiver;

before(async () => {
  world = new ProcessWorld();
  receiver = await startCallbackReceiver();
});

after(async () => {
  await receiver.close();
  await world.close();
});

/** Restarts or kills the other process, and lets receivers of events fail, each minute something else. */
async function disturb(fragile: FragileService, endsAtMs: number): Promise<number> {
  let restarts = 0;
  let other = await fragile.startAnother();
  const restart = async (signal: NodeJS.Signals): Promise<void> => {
    other.signal(signal);
    await other.ended;
    other = await fragile.startAnother();
    restarts += 1;
  };
  const respondWith = (status: number | null) => Promise.resolve(receiver.respondWith(status));
  const disturbances = [
    () => restart('SIGTERM'),
    () => respondWith(503),
    () => restart('SIGKILL'),
    () => respondWith(null),
    () => respondWith(200),
  ];
  for (let minute = 0; performance.now() < endsAtMs; minute += 1) {
    await disturbances[minute % disturbances.length]?.();
    receiver.received.length = 0;
    await elapse(Math.min(minuteMs, Math.max(0, endsAtMs - performance.now())));
  }
  receiver.respondWith(200);
  other.signal('SIGTERM');
  await other.ended;
  return restarts;
}

/** Deliveries that wait, and callbacks that do: those that are handled are kept for some days. */
const countWaiting = async (fragile: FragileService, dueBefore: string): Promise<number> => {
  const [row] = await fragile.rows<{ count: number }>(
    `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at < ${dueBefore})::integer
          + (SELECT count(*) FROM network_inbox WHERE due_at < ${dueBefore})::integer AS count`,
  );
  return row?.count ?? 0;
};

/**
 * Nothing stays due: what a sweep has missed is found by the next one. What failed often falls due during the next hours, some of it in
 * each second, so that is brought forward.
 */
async function untilDelivered(fragile: FragileService): Promise<void> {
  const untilNone = (description: string, dueBefore: string) =>
    eventually(description, async () => (await countWaiting(fragile, dueBefore)) === 0, queuesEmptyMs);
  await untilNone('nothing is overdue', `clock_timestamp() - interval '10 s'`);
  await fragile.rows(`UPDATE webhook_deliveries SET next_attempt_at = clock_timestamp() WHERE status = 'pending'`);
  await untilNone('all events are delivered', `'infinity'`);
}

function report(context: TestContext, samples: readonly ProcessSample[]): { perHour: number; error: number } {
  const settled = samples.filter(({ atMs }) => atMs > settlingMs);
  const slope = memorySlope(settled, blockMs);
  const resident = settled.map(({ residentMiB }) => residentMiB);
  context.diagnostic(
    `memory ${Math.min(...resident).toFixed(0)} to ${Math.max(...resident).toFixed(0)} MiB, ` +
      `${slope.perHour.toFixed(1)} ± ${slope.error.toFixed(1)} MiB an hour`,
  );
  return slope;
}

test('load with restarts and failing receivers and networks leaks no memory, no file and no work', async (context) => {
  const fragile = await FragileService.start(world);
  context.after(() => fragile.stop());
  const endpoint = { url: receiver.url, enabled_events: ['*'] };
  const created = await fragile.api().post('/v1/webhook-endpoints', endpoint);
  assert.equal(created.status, 201, created.text);
  const idleFiles = openFiles(fragile.service.pid);
  const load = new SteadyLoad({ url: fragile.url, key: fragile.key, clients: 8, pauseMs: 200, accountNumbers });
  const sampling = sampleProcess(fragile.service.pid);
  const restarts = await disturb(fragile, performance.now() + hours * 60 * minuteMs);
  await load.stop();
  const samples = await sampling.stop();
  context.diagnostic(`${load.acknowledged} acknowledged, ${restarts} restarts, in ${hours} hours`);
  const slope = report(context, samples);
  const began = performance.now();
  await fragile.verify(load);
  await untilDelivered(fragile);
  context.diagnostic(`nothing was under way any more after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  const metrics = await (await fetch(`${fragile.url}/metrics`)).text();
  const deadRows = [...metrics.matchAll(/^dalasi_database_dead_rows\{table="(\w+)"\} (\d+)$/gm)];
  context.diagnostic(`dead rows: ${deadRows.map(([, table, rows]) => `${table} ${rows}`).join(', ')}`);
  const newFiles = (): number => openFiles(fragile.service.pid) - idleFiles;
  // Connections that nobody uses any more are closed after some seconds.
  await eventually(
    `at most ${filesMax} more open files than before the load`,
    () => newFiles() <= filesMax,
    2 * minuteMs,
  );
  context.diagnostic(`${newFiles()} more open files than before the load`);
  assert.ok(deadRows.length > 0, metrics);
  for (const [line, , rows] of deadRows) assert.ok(Number(rows) < deadRowsMax, line);
  // In an hour the error is larger than the limit; a day tells.
  assert.ok(slope.perHour - 2 * slope.error < slopeMaxMiB, `${slope.perHour} ± ${slope.error} MiB an hour`);
});
