import { addMs, dayMs, systemClock, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { SharedCommits } from '../kit/shared-commits.ts';
import { createCommandPlanner, type DeliveryPlanner } from '../webhooks/delivery-planner.ts';
import type { MoneyContext } from '../app/contexts.ts';
import { completeWorkWith } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/work.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { ListReader } from '../api/list-reader.ts';
import { createRefundOwner } from '../refunds/end-refund.ts';
import { createDemoNetworks } from './demo-networks.ts';
import { DemoRequests } from './request-story.ts';
import { DemoTime } from './demo-time.ts';
import { JoinedDatabase } from './joined-database.ts';

// As long as the request log holds them.
const requestDays = 30;

/** What the stories are played with: the service's own use-cases, in another time. */
export interface DemoWorld {
  time: DemoTime;
  db: JoinedDatabase;
  money: MoneyContext;
  planner: DeliveryPlanner;
  merchant: Merchant;
  /** What could be paid out before, in bututs: test money, which the stories leave alone, because it is younger than they are. */
  floorMinor: bigint;
  /** When the demo data ends: the present. */
  end: Date;
  requests: DemoRequests;
}

export interface DemoOptions extends Pick<DemoWorld, 'floorMinor'> {
  merchant: Merchant;
  seed: string;
  end: Date;
  /** The key of the merchant's server; null for none. */
  keyId: string | null;
}

/** Each change by itself, so that the same seed makes the same data. */
class SeparateCommits extends SharedCommits {
  override run: SharedCommits['run'] = (_key, body, options) => this.runAlone(body, options);
}

/** The context of a service, moved into the past: nobody is notified, and the networks respond at once. */
export function createDemoWorld(
  real: MoneyContext,
  outer: Database,
  { merchant, seed, end, floorMinor, keyId }: DemoOptions,
): DemoWorld {
  const time = new DemoTime(seed);
  const db = new JoinedDatabase(outer);
  // The merchant's settings do not change while its past is written, so they are read once.
  const still: Clock = { ...systemClock, now: () => end };
  const planner = createCommandPlanner({ clock: time, newId: time.newId });
  const money: MoneyContext = {
    ...real,
    db,
    sharedCommits: new SeparateCommits(db, { aloneMax: 1, name: 'demo', waitingMax: Infinity }),
    // Failing deliveries are part of the story; errors are not.
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: (...line) => real.log.error(...line) },
    clock: time,
    random: time.random,
    newId: time.newId,
    networks: createDemoNetworks(real.networks),
    merchants: createMerchantDirectory(outer, still),
    notifyWorker: () => {},
    planDeliveries: (tx, event) => planner.plan(tx, event),
    changes: { notify: () => {}, subscribe: () => () => {}, subscribeKind: () => () => {} },
    lists: new ListReader(db),
    transferOwners: { refund: createRefundOwner(() => money) },
    settings: settingsAt(real, time, end),
  };
  const since = addMs(end, -requestDays * dayMs);
  const requests = new DemoRequests({ time, db, money, merchant }, { keyId, since });
  return { time, db, money, planner, merchant, end, floorMinor, requests };
}

/** Money that would have settled by now settles at once; what was collected within the delay waits, as it does in the service. */
function settingsAt({ settings }: MoneyContext, time: DemoTime, end: Date): MoneyContext['settings'] {
  const { settlementDelayMs } = settings;
  const delayBeganAt = addMs(end, -settlementDelayMs);
  return {
    ...settings,
    get settlementDelayMs() {
      return time.now() < delayBeganAt ? 0 : settlementDelayMs;
    },
  };
}

/**
 * Work as a worker holds it that has claimed it. Nobody else sees the row before the commit, so it needs no claim: its version
 * is still the first.
 */
export function claimedWork(
  { merchant, time }: Pick<DemoWorld, 'merchant' | 'time'>,
  work: { queue: QueueName; kind: WorkKind; subjectId: string },
): Work {
  return { ...work, merchantId: merchant.id, attempts: 1n, version: 0n, createdAt: time.now() };
}

/** Ends work that has nothing left to do, as a worker would find. */
export async function endWork(world: DemoWorld, work: Parameters<typeof claimedWork>[1]): Promise<void> {
  await world.db.withTransaction(async (tx) => completeWorkWith(tx, claimedWork(world, work)));
}
