import { withAdminClient } from '../server/src/database/admin-client.ts';
import { migrate } from '../server/src/database/migrate.ts';
import { ensureServingRole } from '../server/src/database/roles.ts';
import { claimWork, networkQueueKinds, networkQueue, sweepDueWork } from '../server/src/events/outbox.ts';
import type { QueueName, Work } from '../server/src/events/work.ts';
import { addMs, systemClock } from '../server/src/kit/clock.ts';
import { openDatabase, type Database } from '../server/src/kit/db.ts';
import { DueFloors } from '../server/src/kit/due-floors.ts';
import { claimBar, claimFigures, claimTimes, p99Aim, type ClaimTimes } from './harness/claim-times.ts';
import type { Part } from './harness/part.ts';
import { inMs, whole } from './harness/statistics.ts';
import type { Workbench } from './harness/workbench.ts';

const lookUps = 100_000;
const merchants = 1_000;
// As in a worker: the size of a claim, and the number of merchants at a time.
const claimMax = 16;
const concurrency = 8;
const lookEveryMs = 250;
// Beyond the end of the benchmark: claimed work is not due again.
const leaseMs = 60 * 60 * 1_000;
const secondsMax = 25;

const networks = ['wave', 'afrimoney', 'qmoney', 'aps'];
const queue = networkQueue({ network: 'wave', testMode: true }, 'look-ups');
/** The queues of a worker of the test environment. */
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
    `each, or all of one. A worker’s own statements claim them, ${claimMax} at a time for ${concurrency} ` +
    `merchants side by side, until none is left or ${secondsMax} s are over; every ${lookEveryMs} ms, four times as often ` +
    `as a worker, a sweep looks for what has fallen due in ${queues.length} queues, and for all that is due of a part of the ` +
    'merchants. The first sweep, as that of a worker that starts, looks at all. Straight on the database, durable. The first and the last tenth of the claims show whether claiming slows down as dead rows of earlier claims pile up.',
  async run(bench) {
    const spread = await claimAll(bench, merchants);
    const one = await claimAll(bench, 1);
    const figuresOf = (scope: string, claimed: Claimed) => [
      ...claimFigures(scope, claimed),
      { label: `Sweep p99, ${scope}`, value: inMs(claimed.sweeps.p99Ms), aim: p99Aim(claimed.sweeps) },
      { label: `The first sweep, ${scope}`, value: inMs(claimed.firstSweepMs) },
      {
        label: `Look-ups claimed, a second, ${scope}`,
        value: `${whole(claimed.claimedCount)}, ${whole(claimed.perSecond)}`,
      },
    ];
    return {
      figures: [...figuresOf(`${whole(merchants)} merchants`, spread), ...figuresOf('one merchant', one)],
      bars: [claimBar('claim p99, due look-ups of many', spread), claimBar('claim p99, due look-ups of one', one)],
    };
  },
};

interface Claimed extends ClaimTimes {
  firstSweepMs: number;
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

/** Claims due work of the merchants that the sweep finds, each by one claimer at a time, as a worker does. */
async function work(db: Database): Promise<Claimed> {
  const claimsMs: number[] = [];
  const sweepsMs: number[] = [];
  let claimedCount = 0;
  let sweptAt = 0;
  const beganAt = performance.now();
  const isTimeUp = (): boolean => performance.now() - beganAt > secondsMax * 1_000;
  const floors = new DueFloors();
  const sweep = async (): Promise<string[]> => {
    sweptAt = performance.now();
    const search = floors.nextSweep(systemClock.now());
    const due = await timed(sweepsMs, () => sweepDueWork(db, queues, search));
    return floors.noteSweep(
      search,
      due.map(({ merchantId, fromStart }) => ({ key: merchantId, fromStart })),
    );
  };
  for (let due = await sweep(); due.length > 0 && !isTimeUp(); due = await sweep()) {
    const claimer = async (): Promise<void> => {
      for (let merchantId = due.pop(); merchantId !== undefined && !isTimeUp(); merchantId = due.pop()) {
        const claimed = await claim(db, { merchantId, floors }, claimsMs);
        claimedCount += claimed.length;
        if (performance.now() - sweptAt >= lookEveryMs) await sweep();
        // After a full claim the merchant gets another one, behind those that wait.
        if (claimed.length === claimMax) due.unshift(merchantId);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, claimer));
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  const [firstSweepMs = 0, ...laterMs] = sweepsMs;
  return { ...claimTimes(claimsMs, laterMs), firstSweepMs, claimedCount, perSecond: claimedCount / seconds };
}

function claim(
  db: Database,
  { merchantId, floors }: { merchantId: string; floors: DueFloors },
  durationsMs: number[],
): Promise<Work[]> {
  const now = systemClock.now();
  const claimed = { merchantId, queue, now, leaseEndsAt: addMs(now, leaseMs), rowsMax: claimMax };
  return floors.claim(merchantId, now, {
    rowsFrom: (from) => timed(durationsMs, () => claimWork(db, { ...claimed, from })),
    dueAtOf: ({ dueAt }) => dueAt,
  });
}

async function timed<Result>(durationsMs: number[], action: () => Promise<Result>): Promise<Result> {
  const beganAt = performance.now();
  const result = await action();
  durationsMs.push(performance.now() - beganAt);
  return result;
}

/**
 * Look-ups that became due one after another, in the order of time like those of a network that has stopped answering.
 */
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
    await client.query('INSERT INTO merchant_places (merchant_id) SELECT id FROM merchants');
    await client.query(
      `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
       SELECT ${merchantId('1 + n % $2::int')}, 'look_up_transfer', gen_random_uuid(), $3,
         to_timestamp(1735689600 + n * 0.001), 3, 6, to_timestamp(1735689600)
       FROM generate_series(1, $1::int) AS n`,
      [lookUps, busyMerchants, queue],
    );
    // As autovacuum would within minutes.
    for (const table of ['merchants', 'outbox']) await client.query(`VACUUM ANALYZE ${table}`);
  });
}
