import { withAdminClient } from '../server/src/database/admin-client.ts';
import { migrate } from '../server/src/database/migrate.ts';
import { ensureServingRole } from '../server/src/database/roles.ts';
import { claimWork, listDueWork, networkQueueKinds, networkQueue } from '../server/src/events/outbox.ts';
import type { QueueName, Work } from '../server/src/events/work.ts';
import { addMs, systemClock } from '../server/src/kit/clock.ts';
import { openDatabase } from '../server/src/kit/db.ts';
import type { Database } from '../server/src/kit/db.ts';
import type { Part } from './harness/part.ts';
import { inMs, latenciesOf, whole } from './harness/statistics.ts';
import type { Latencies } from './harness/statistics.ts';
import type { Workbench } from './harness/workbench.ts';

const lookUps = 100_000;
const merchants = 1_000;
// As a worker claims: so many pieces at once, for so many merchants side by side.
const claimMax = 16;
const concurrency = 8;
const lookEveryMs = 250;
// Past any end of the benchmark: what is claimed does not come back.
const leaseMs = 60 * 60 * 1_000;
const secondsMax = 25;
const p99MaxMs = 20;

const networks = ['wave', 'afrimoney', 'qmoney', 'aps'];
const queue = networkQueue({ network: 'wave', testMode: true }, 'look-ups');
/** What a worker of the test environment looks through. */
const queues: QueueName[] = [
  ...networks.flatMap((network) =>
    networkQueueKinds.map((queueKind) => networkQueue({ network, testMode: true }, queueKind)),
  ),
  'settlement',
];

export const lookUpsDue: Part = {
  name: 'look-ups',
  title: 'Claiming due look-ups',
  description:
    `${whole(lookUps)} look-ups of transfers are due, of ${whole(merchants)} merchants, ${whole(lookUps / merchants)} ` +
    `each, or all of one. A worker’s own statements take them as it does, ${claimMax} at a time for ${concurrency} ` +
    `merchants side by side, until none is left or ${secondsMax} s are over; every ${lookEveryMs} ms, four times as often ` +
    `as a worker, the sweep looks through ${queues.length} queues of all merchants. Straight on the database, durable. ` +
    'The first tenth of the claims beside the last tells whether claiming slows while dead rows of earlier claims pile up.',
  async run(bench) {
    const spread = await claimAll(bench, merchants);
    const one = await claimAll(bench, 1);
    const aim = (p99Ms: number) => ({ text: `under ${p99MaxMs} ms`, isMet: p99Ms < p99MaxMs });
    const figuresOf = (scope: string, claimed: Claimed) => [
      { label: `Claim p99, ${scope}`, value: inMs(claimed.claims.p99Ms), aim: aim(claimed.claims.p99Ms) },
      { label: `Claim p50 and p95, ${scope}`, value: `${inMs(claimed.claims.p50Ms)}, ${inMs(claimed.claims.p95Ms)}` },
      { label: `First tenth, last tenth, p50, ${scope}`, value: `${inMs(claimed.firstMs)}, ${inMs(claimed.lastMs)}` },
      { label: `Sweep p99, ${scope}`, value: inMs(claimed.sweeps.p99Ms), aim: aim(claimed.sweeps.p99Ms) },
      {
        label: `Look-ups claimed, a second, ${scope}`,
        value: `${whole(claimed.claimedCount)}, ${whole(claimed.perSecond)}`,
      },
    ];
    const bar = (label: string, value: number) => ({
      label,
      value,
      aim: p99MaxMs,
      better: 'lower' as const,
      unit: 'ms' as const,
    });
    return {
      figures: [...figuresOf(`${whole(merchants)} merchants`, spread), ...figuresOf('one merchant', one)],
      bars: [
        bar('claim p99, due look-ups of many', spread.claims.p99Ms),
        bar('claim p99, due look-ups of one', one.claims.p99Ms),
      ],
    };
  },
};

interface Claimed {
  claims: Latencies;
  sweeps: Latencies;
  /** Medians of the first and the last tenth of the claims. */
  firstMs: number;
  lastMs: number;
  claimedCount: number;
  perSecond: number;
}

async function claimAll(bench: Workbench, busyMerchants: number): Promise<Claimed> {
  const adminUrl = await bench.createDatabase();
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  await fillOutbox(adminUrl, busyMerchants);
  const db = openDatabase({
    url: await ensureServingRole({ adminUrl, password: 'benchmark' }),
    connectionsMax: concurrency + 1,
    clock: systemClock,
    onConnectionError: () => {},
  });
  try {
    const claimed = await work(db);
    bench.log(
      `  merchants: ${busyMerchants}: ${whole(claimed.claimedCount)} claimed, p99 ${inMs(claimed.claims.p99Ms)}, ` +
        `sweep p99 ${inMs(claimed.sweeps.p99Ms)}`,
    );
    return claimed;
  } finally {
    await db.close();
  }
}

/** Claims what is due for whom the sweep finds, each merchant by one claimer at a time, as a worker's runner does it. */
async function work(db: Database): Promise<Claimed> {
  const claimsMs: number[] = [];
  const sweepsMs: number[] = [];
  let claimedCount = 0;
  let sweptAt = 0;
  const beganAt = performance.now();
  const isTimeUp = (): boolean => performance.now() - beganAt > secondsMax * 1_000;
  const sweep = async (): Promise<string[]> => {
    sweptAt = performance.now();
    const due = await timed(sweepsMs, () => listDueWork(db, queues, systemClock.now()));
    return due.map(({ merchantId }) => merchantId);
  };
  for (let due = await sweep(); due.length > 0 && !isTimeUp(); due = await sweep()) {
    const claimer = async (): Promise<void> => {
      for (let merchantId = due.pop(); merchantId !== undefined && !isTimeUp(); merchantId = due.pop()) {
        const claimed = await claim(db, merchantId, claimsMs);
        claimedCount += claimed.length;
        if (performance.now() - sweptAt >= lookEveryMs) await sweep();
        // A full claim is followed by another for the same merchant, behind those that wait.
        if (claimed.length === claimMax) due.unshift(merchantId);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, claimer));
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  const tenth = Math.max(1, Math.floor(claimsMs.length / 10));
  return {
    claims: latenciesOf(claimsMs),
    sweeps: latenciesOf(sweepsMs),
    firstMs: latenciesOf(claimsMs.slice(0, tenth)).p50Ms,
    lastMs: latenciesOf(claimsMs.slice(-tenth)).p50Ms,
    claimedCount,
    perSecond: claimedCount / seconds,
  };
}

function claim(db: Database, merchantId: string, durationsMs: number[]): Promise<Work[]> {
  const now = systemClock.now();
  return timed(durationsMs, () =>
    claimWork(db, { merchantId, queue, now, leaseEndsAt: addMs(now, leaseMs), rowsMax: claimMax }),
  );
}

async function timed<Result>(durationsMs: number[], action: () => Promise<Result>): Promise<Result> {
  const beganAt = performance.now();
  const result = await action();
  durationsMs.push(performance.now() - beganAt);
  return result;
}

/** Look-ups that became due one after another, in the order of time like those of a network that has stopped answering. */
async function fillOutbox(adminUrl: string, busyMerchants: number): Promise<void> {
  await withAdminClient(adminUrl, async (client) => {
    const businessId = `('00000001-0000-7000-8000-' || lpad(m::text, 12, '0'))::uuid`;
    const merchantId = (number: string) => `('00000002-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
    await client.query(
      `INSERT INTO businesses (id, name, created_at) SELECT ${businessId}, 'Business ' || m, to_timestamp(0)
       FROM generate_series(1, $1::int) AS m`,
      [merchants],
    );
    await client.query(
      `INSERT INTO merchants (id, business_id, short_id, name, test_mode, currency, fee_payer, created_at)
       SELECT ${merchantId('m')}, ${businessId}, lpad(m::text, 8, '0'), 'Business ' || m, true, 'GMD', 'business', to_timestamp(0)
       FROM generate_series(1, $1::int) AS m`,
      [merchants],
    );
    await client.query(
      `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
       SELECT ${merchantId('1 + n % $2::int')}, 'look_up_transfer', gen_random_uuid(), $3,
         to_timestamp(1735689600 + n * 0.001), 3, 6, to_timestamp(1735689600)
       FROM generate_series(1, $1::int) AS n`,
      [lookUps, busyMerchants, queue],
    );
    // What autovacuum would do within minutes.
    for (const table of ['merchants', 'outbox']) await client.query(`VACUUM ANALYZE ${table}`);
  });
}
