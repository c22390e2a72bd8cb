import pg from 'pg';
import type { WrittenEvent } from '../server/src/events/event.ts';
import { openDatabase, type Transaction } from '../server/src/kit/db.ts';
import { createCommandPlanner } from '../server/src/webhooks/delivery-planner.ts';
import { addSubscribersWith } from './harness/add-subscribers.ts';
import { claimBar, claimFigures, claimTimes, p99Aim, type ClaimTimes } from './harness/claim-times.ts';
import { fillDeliveries, vacuumDeliveries } from './harness/fill-deliveries.ts';
import { secondsOf, type Figure, type Part } from './harness/part.ts';
import { inMs, whole, type Latencies } from './harness/statistics.ts';
import { timedDatabase } from './harness/timed-database.ts';
import type { Workbench } from './harness/workbench.ts';
import { migrate } from '../server/src/database/migrate.ts';
import { ensureServingRole } from '../server/src/database/roles.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { uuidV7 } from '../server/src/kit/ids.ts';
import { ListReader } from '../server/src/api/list-reader.ts';
import { createServiceLog } from '../server/src/api/service-log.ts';
import { outboundPolicy } from '../server/src/api/urls.ts';
import type { OutboundClient } from '../server/src/kit/outbound-http.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { createSealer } from '../server/src/kit/seal.ts';
import type { ChangeFeed } from '../server/src/kit/changes.ts';
import { createBulkResendLimiter } from '../server/src/webhooks/resend-events.ts';
import { deliveryTopicKind, workerQueues } from '../server/src/app/work-queues.ts';
import { startWorker } from '../server/src/worker/worker.ts';

const deliveries = 1_000_000;
const merchants = 1_000;
const few = 20_000;
const seconds = 20;
const snapshotSeconds = secondsOf({ usual: 60 });
// As in the service.
const connectionsMax = 20;
const responseMs = 100;
// Longer than a million deliveries take to be written: none is due before the worker starts.
const fillMaxMs = 120_000;

export const pending: Part = {
  name: 'pending',
  title: 'A million pending deliveries',
  description:
    `${whole(deliveries)} deliveries are due, all of one endpoint, or of ${whole(merchants)} merchants. For ${seconds} s a ` +
    `worker sends them as in the service, to receivers that respond after ${responseMs} ms. Its statements are timed from ` +
    'when each has a connection: the claims, and the sweep that finds the merchants with due deliveries. ' +
    `Beside it the same with ${whole(few)} deliveries of one endpoint, and for ${whole(snapshotSeconds)} s beside a snapshot that ` +
    'stays open, which keeps every dead row of the queue, while half as many become due as were delivered before. ' +
    'Straight on the database, durable. BENCH_MINUTES says how long the snapshot stays open.',
  async run(bench) {
    const base = await work(bench, { deliveries: few, merchants: 1 });
    const one = await work(bench, { deliveries, merchants: 1 });
    const spread = await work(bench, { deliveries, merchants });
    const half = Math.min(spread.perSecond / 2, deliveries / snapshotSeconds);
    const beside = await work(bench, { deliveries, merchants, besideSnapshot: { perSecond: half } });
    return {
      figures: [
        ...figuresOf('one endpoint', one),
        ...figuresOf(`${whole(merchants)} merchants`, spread),
        ...figuresOf('half that load beside an open snapshot', beside),
        { label: `Claim p50 and p99, ${whole(few)} deliveries`, value: p50AndP99(base.claims) },
      ],
      bars: [
        claimBar('claim p99, a million of one endpoint', one),
        claimBar('claim p99, a million of many', spread),
        claimBar('claim p99, beside an open snapshot', beside),
      ],
    };
  },
};

interface WorkResult extends ClaimTimes {
  perSecond: number;
}

function figuresOf(scope: string, result: WorkResult): Figure[] {
  return [
    ...claimFigures(scope, result),
    { label: `Sweep p50 and p99, ${scope}`, value: p50AndP99(result.sweeps), aim: p99Aim(result.sweeps) },
    { label: `Deliveries a second, ${scope}`, value: whole(result.perSecond) },
  ];
}

const p50AndP99 = ({ p50Ms, p99Ms }: Latencies): string => `${inMs(p50Ms)}, ${inMs(p99Ms)}`;

interface Backlog {
  deliveries: number;
  merchants: number;
  /** They become due at this pace, beside an open snapshot. */
  besideSnapshot?: { perSecond: number };
}

async function work(bench: Workbench, backlog: Backlog): Promise<WorkResult> {
  const adminUrl = await bench.createDatabase();
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  const url = await ensureServingRole({ adminUrl, password: 'benchmark' });
  const newId = () => uuidV7(systemClock, systemRandom);
  const planner = createCommandPlanner({ clock: systemClock, newId });
  const context = {
    clock: systemClock,
    random: systemRandom,
    newId,
    planner,
    planDeliveries: (tx: Transaction, event: WrittenEvent) => planner.plan(tx, event),
    sealer: createSealer(Buffer.from(systemRandom.bytes(32)).toString('base64')),
    urlPolicy: (testMode: boolean) => outboundPolicy({ production: false, testMode }),
  };
  const urls = Array.from({ length: backlog.merchants }, (_, number) => `http://127.0.0.1:9/${number}`);
  const subscribers = await addSubscribersWith(adminUrl, context, urls);
  const merchantIds = subscribers.map(({ merchantId }) => merchantId);
  const { besideSnapshot } = backlog;
  const fromMs = systemClock.now().getTime() + fillMaxMs;
  await fillDeliveries(adminUrl, {
    deliveries: backlog.deliveries,
    merchantIds,
    ...(besideSnapshot && { becomeDue: { fromMs, ...besideSnapshot } }),
  });
  await vacuumDeliveries(adminUrl);
  if (besideSnapshot) await systemClock.sleep(fromMs - systemClock.now().getTime());
  const snapshot = besideSnapshot ? await openSnapshot(adminUrl) : undefined;
  const opened = openDatabase({ url, connectionsMax, clock: systemClock, onConnectionError: () => {} });
  const { db, durationsMs } = timedDatabase(opened, connectionsMax);
  let delivered = 0;
  const webhooks = {
    ...context,
    db,
    lists: new ListReader(db),
    bulkResends: createBulkResendLimiter(),
    log: createServiceLog({ level: 'error' }),
    outbound: delayedClient,
    signatureHeader: 'x-service-signature',
    mailTrouble: async () => {},
    observeAttempt: () => {
      delivered += 1;
    },
    notifyWorker: () => {},
    scheduleDeliveries: () => {},
  };
  const beganAt = performance.now();
  // As in the service: a sweep each second finds the merchants with due deliveries.
  const queues = workerQueues(webhooks, { webhooks });
  const deliveryQueues = queues.filter(({ topicKind }) => topicKind === deliveryTopicKind);
  const worker = startWorker({ ...webhooks, changes: silence, queues: deliveryQueues });
  await systemClock.sleep((snapshot ? snapshotSeconds : seconds) * 1_000);
  await worker.stop();
  const elapsedMs = performance.now() - beganAt;
  await db.close();
  await snapshot?.end();
  const claimsMs = durationsMs(/deliveries_claim/);
  const sweepsMs = durationsMs(/queues_due/);
  if (claimsMs.length === 0 || sweepsMs.length === 0) throw new Error('no claim or sweep ran under the expected name');
  const result: WorkResult = { ...claimTimes(claimsMs, sweepsMs), perSecond: (delivered / elapsedMs) * 1_000 };
  bench.log(
    `  ${whole(backlog.deliveries)} of ${whole(backlog.merchants)}: ${whole(claimsMs.length)} claims, p99 ` +
      `${inMs(result.claims.p99Ms)}, sweep p99 ${inMs(result.sweeps.p99Ms)}, ${whole(delivered)} delivered`,
  );
  return result;
}

/** A transaction that sees the database as it is now until its connection ends. */
async function openSnapshot(adminUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM merchants');
  return client;
}

/** A change feed without changes. */
const silence: ChangeFeed = {
  notify: () => {},
  subscribe: () => () => {},
  subscribeKind: () => () => {},
};

/** Responds like a merchant's server far away. */
const delayedClient: OutboundClient = {
  post: async () => {
    await systemClock.sleep(responseMs);
    return { kind: 'answered', status: 200, retryAfterMs: null, excerpt: '', durationMs: responseMs };
  },
  close: () => Promise.resolve(),
};
