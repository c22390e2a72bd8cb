import { withAdminClient } from '../server/src/database/admin-client.ts';
import { migrate } from '../server/src/database/migrate.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { creationBody } from './harness/creation-statements.ts';
import { fillMovements } from './harness/fill-movements.ts';
import { fillPayments, idOf } from './harness/fill-payments.ts';
import { fillPayouts } from './harness/fill-payouts.ts';
import { baselineCheckout, failureFigure, secondsOf, type Figure, type Part } from './harness/part.ts';
import type { Service } from './harness/service.ts';
import { inMs, latenciesOf, whole } from './harness/statistics.ts';
import { startSteadyLoad, type SentRequest, type SteadyLoad } from './harness/steady-load.ts';
import type { Workbench } from './harness/workbench.ts';

const rows = Number(process.env['MIGRATION_ROWS'] ?? 10_000_000);
// Each has an intent, a charge and an event, and beside them a movement.
const payments = Math.floor(rows / 3);
// Each is a transfer, a refund and the refund's transfer.
const payouts = Math.floor(payments / 10);
const perSecond = 100;
const besideSeconds = 30;
const warmUpSeconds = 20;
const openSeconds = secondsOf({ usual: 300 });
const stallMaxMs = 1_000;
const readPayments = 100;
const describedRequests = 8;

export const migrations: Part = {
  name: 'migrations',
  title: 'Migrating under load',
  needsBaseline: true,
  description:
    `The service of the last release (BASELINE_CHECKOUT) with ${whole(rows)} rows of payments gets ${perSecond} requests a second by the ` +
    'clock, three fifths of them new payments, from half a minute before the migrations of this program to half a minute after them. ' +
    `For ${whole(openSeconds)} s a transaction stays open that has read a payment, and for as long again one with a snapshot, as a dump ` +
    'has it: the migrations run beside both. Latencies count from when a request was due. Then this program is started on the database. ' +
    'MIGRATION_ROWS sets the number of rows, BENCH_MINUTES how long each transaction stays open.',
  async run(bench) {
    const release = await bench.startService({ checkout: baselineCheckout() ?? '' });
    const written = await fill(release, bench);
    const load = startSteadyLoad(release, { perSecond, paymentIds: await findPaymentIds(release) });
    const migrated = await migrateUnderLoad(bench, release, load);
    await release.settled();
    await release.stop();
    const failuresThen = await useNewRelease(bench, release);
    const { before, meanwhile, after } = phasesOf(load, migrated);
    const longest = longestOf(meanwhile);
    for (const sentence of describeLongest(meanwhile, migrated)) bench.log(`  ${sentence}`);
    return {
      figures: [
        { label: 'Rows', value: whole(written) },
        ...migrationFigures(migrated),
        {
          label: 'Requests while migrating, and in all',
          value: `${whole(meanwhile.length)}, ${whole(load.sent.length)}`,
        },
        failureFigure('Requests that failed or were refused', load.sent.filter(hasFailed).length),
        {
          label: 'Longest request while migrating',
          value: inMs(longest.elapsedMs),
          aim: { text: `under ${whole(stallMaxMs)} ms`, isMet: longest.elapsedMs < stallMaxMs },
        },
        {
          label: 'Longest before, and after',
          value: [before, after].map((sent) => inMs(longestOf(sent).elapsedMs)).join(', '),
        },
        { label: 'Latency p50, p99 before', value: latencies(before) },
        { label: 'Latency p50, p99 while migrating', value: latencies(meanwhile) },
        { label: 'Latency p50, p99 after, of the last release', value: latencies(after) },
        failureFigure('Requests that failed of the new release', failuresThen),
      ],
      bars: [
        {
          label: 'longest request while migrating',
          value: longest.elapsedMs,
          aim: stallMaxMs,
          better: 'lower',
          unit: 'ms',
        },
      ],
    };
  },
};

/** Returns how many rows there are. */
async function fill(release: Service, bench: Workbench): Promise<number> {
  const beganAt = performance.now();
  await fillPayments(release, payments);
  await fillMovements(release, payments);
  await fillPayouts(release, payouts);
  // What the fill has left to write would be written amid the load.
  await withAdminClient(release.adminUrl, (client) => client.query('CHECKPOINT'));
  const written = 4 * payments + 3 * payouts;
  bench.log(`  ${whole(written)} rows written in ${whole((performance.now() - beganAt) / 1_000)} s`);
  return written;
}

/** Of payments all over the table. */
async function findPaymentIds({ adminUrl }: Service): Promise<string[]> {
  return await withAdminClient(adminUrl, async (client) => {
    const { rows: found } = await client.query<{ id: string }>(
      `SELECT ${idOf('a')} AS id FROM (SELECT 1 + $1::bigint * row / $2::bigint AS n FROM generate_series(0, $2::int - 1) AS row) AS numbered`,
      [payments, readPayments],
    );
    return found.map(({ id }) => id);
  });
}

/** Migrates amid the load, and then stops it. */
async function migrateUnderLoad(bench: Workbench, release: Service, load: SteadyLoad): Promise<Migrated> {
  try {
    await systemClock.sleep((warmUpSeconds + besideSeconds) * 1_000);
    const migrated = await migrateBesideTransactions(bench, release);
    await systemClock.sleep(besideSeconds * 1_000);
    return migrated;
  } finally {
    await load.stop();
  }
}

interface Migrated {
  beganAt: number;
  endedAt: number;
  durations: { label: string; seconds: number; endedAt: number; hasWaited: boolean }[];
  /** Attempts that did not get a lock. */
  refusals: number;
}

async function migrateBesideTransactions(bench: Workbench, { adminUrl }: Service): Promise<Migrated> {
  const started = systemClock.now();
  const beganAt = performance.now();
  let endedAt = beganAt;
  const logged: string[] = [];
  const log = (sentence: string): void => {
    logged.push(sentence);
    bench.log(`  ${whole((performance.now() - beganAt) / 1_000)} s: ${sentence}`);
  };
  const opened = Promise.withResolvers<void>();
  const failed = new AbortController();
  const open = openOneAfterTheOther(adminUrl, { onOpen: opened.resolve, signal: failed.signal });
  await Promise.race([opened.promise, open]);
  const migrating = migrate({ adminUrl, clock: systemClock, log }).finally(() => (endedAt = performance.now()));
  migrating.catch(() => failed.abort());
  await Promise.all([migrating, open]);
  const durations = (await readApplied(adminUrl, started)).map(({ label, appliedAt }, index, all) => ({
    label,
    seconds: (appliedAt.getTime() - (all[index - 1]?.appliedAt ?? started).getTime()) / 1_000,
    endedAt: beganAt + appliedAt.getTime() - started.getTime(),
    hasWaited: logged.some((sentence) => sentence.startsWith(`Migration ${label} `)),
  }));
  return {
    beganAt,
    endedAt,
    durations,
    refusals: logged.filter((sentence) => sentence.startsWith('Migration ')).length,
  };
}

/**
 * First a transaction that holds the lock of what it has read, which a change of that table needs; then one that holds a snapshot,
 * which the build of an index waits for. There is always one of them.
 */
async function openOneAfterTheOther(
  adminUrl: string,
  { onOpen, signal }: { onOpen: () => void; signal: AbortSignal },
): Promise<void> {
  await withAdminClient(adminUrl, async (reader) => {
    await reader.query("SET application_name = 'report'");
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM key_checks');
    await reader.query('SELECT FROM payment_intents LIMIT 1');
    onOpen();
    await systemClock.sleep(openSeconds * 1_000, signal);
    await withAdminClient(adminUrl, async (dump) => {
      await dump.query("SET application_name = 'dump'");
      await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await dump.query('SELECT count(*) FROM key_checks');
      await reader.query('COMMIT');
      await systemClock.sleep(openSeconds * 1_000, signal);
      await dump.query('COMMIT');
    });
  });
}

async function readApplied(adminUrl: string, since: Date): Promise<{ label: string; appliedAt: Date }[]> {
  return await withAdminClient(adminUrl, async (client) => {
    const { rows: applied } = await client.query<{ label: string; appliedAt: Date }>(
      `SELECT lpad(number::text, 4, '0') || '-' || name AS label, applied_at AS "appliedAt"
       FROM schema_migrations WHERE applied_at >= $1 ORDER BY number`,
      [since],
    );
    return applied;
  });
}

/** Creates a payment and reads an old one with this program; returns how many of these failed. */
async function useNewRelease(bench: Workbench, release: Service): Promise<number> {
  const [oldId = ''] = await findPaymentIds(release);
  const service = await bench.startService({ successorOf: release });
  await service.post('/v1/payments', JSON.parse(creationBody) as object);
  const headers = { authorization: `Bearer ${service.key}` };
  const { status } = await fetch(`${service.url}/v1/payments/${oldId}`, { headers });
  await service.stop();
  return status === 200 ? 0 : 1;
}

interface Phases {
  before: SentRequest[];
  meanwhile: SentRequest[];
  after: SentRequest[];
}

/** A request belongs to the phase in which it was due. */
function phasesOf({ sent }: SteadyLoad, { beganAt, endedAt }: Migrated): Phases {
  return {
    before: sent.filter(({ dueAt }) => dueAt >= beganAt - besideSeconds * 1_000 && dueAt < beganAt),
    meanwhile: sent.filter(({ dueAt }) => dueAt >= beganAt && dueAt <= endedAt),
    after: sent.filter(({ dueAt }) => dueAt > endedAt),
  };
}

/** The longest requests, and the migration during which each was due. */
function describeLongest(sent: readonly SentRequest[], { beganAt, durations }: Migrated): string[] {
  const longest = sent.toSorted((left, right) => right.elapsedMs - left.elapsedMs).slice(0, describedRequests);
  return longest.map(({ route, outcome, dueAt, elapsedMs }) => {
    const migration = durations.find(({ endedAt }) => dueAt <= endedAt)?.label ?? 'the end';
    return `${inMs(elapsedMs)}: ${route}, ${outcome}, due after ${((dueAt - beganAt) / 1_000).toFixed(1)} s, in ${migration}`;
  });
}

function hasFailed({ outcome }: SentRequest): boolean {
  return !outcome.startsWith('2');
}

function longestOf(sent: readonly SentRequest[]): SentRequest {
  const none: SentRequest = { route: 'none', outcome: 'none', dueAt: 0, elapsedMs: 0 };
  return sent.reduce((longest, request) => (request.elapsedMs > longest.elapsedMs ? request : longest), none);
}

function latencies(sent: readonly SentRequest[]): string {
  const { p50Ms, p99Ms } = latenciesOf(sent.map(({ elapsedMs }) => elapsedMs));
  return `${inMs(p50Ms)}, ${inMs(p99Ms)}`;
}

function migrationFigures({ beganAt, endedAt, durations, refusals }: Migrated): Figure[] {
  const longest = (hasWaited: boolean): string => {
    const [first] = durations
      .filter((migration) => migration.hasWaited === hasWaited)
      .toSorted((left, right) => right.seconds - left.seconds);
    return first === undefined ? 'none' : `${first.label}, ${first.seconds.toFixed(1)} s`;
  };
  return [
    { label: 'Migrations', value: whole(durations.length) },
    { label: 'Duration of all', value: `${((endedAt - beganAt) / 1_000).toFixed(1)} s` },
    { label: 'The longest that waited for a transaction', value: longest(true) },
    { label: 'The longest that did not', value: longest(false) },
    { label: 'Waits and repeated attempts that were logged', value: whole(refusals) },
  ];
}
