import { claimWork, listMerchantsWithDueWork, postponeWork } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { WorkSource } from './worker.ts';

/** Does one piece of work and completes or postpones it. It may be called again for the same piece after a crash. */
export type WorkHandler = (work: Work) => Promise<void>;

interface OutboxSourceOptions {
  db: Database;
  clock: Clock;
  log: Log;
  queue: QueueName;
  handlers: Readonly<Partial<Record<WorkKind, WorkHandler>>>;
}

const sweepEveryMs = 1_000;
// Longer than any handler takes: network calls have their own, shorter limits.
const leaseMs = 60_000;
// A merchant keeps its place for as long as one of its calls hangs, so there are more places than merchants whom one
// dead network may hold up; rows of one merchant are worked side by side as well.
const keysMax = 128;
const rowsMax = 16;
const failureDelayMaxMs = 60_000;
// What becomes due within this time of each other is claimed together.
const gatherMs = 5;

/** The kind of the topics that wake workers for a queue; the merchant's id follows it. */
export function workTopicKind(queue: QueueName): string {
  return `work_${queue}`;
}

/** The outbox of one queue, worked merchant by merchant so that a long backlog of one keeps nobody waiting. */
export function outboxSource(options: OutboxSourceOptions): WorkSource {
  const { db, clock, queue } = options;
  const pokes = new Map<string, () => void>();
  return {
    name: `work for ${queue}`,
    topicKind: workTopicKind(queue),
    sweepEveryMs,
    keysMax,
    listDueKeys: () => listMerchantsWithDueWork(db, queue, clock.now()),
    run: (merchantId, stopped) =>
      workMerchant(options, merchantId, { stopped, onPoke: (poke) => pokes.set(merchantId, poke) }).finally(() =>
        pokes.delete(merchantId),
      ),
    whileRunning: (merchantId) => pokes.get(merchantId)?.(),
  };
}

/**
 * Claims as rows finish and as new ones become due, rather than batch by batch, so that a call that hangs holds up
 * nothing else of its merchant: not what is due already, and not what is asked for meanwhile.
 */
async function workMerchant(
  options: OutboxSourceOptions,
  merchantId: string,
  { stopped, onPoke }: { stopped: AbortSignal; onPoke: (poke: () => void) => void },
): Promise<void> {
  const { db, clock, queue } = options;
  const underWay = new Set<Promise<void>>();
  for (;;) {
    // Listens before it looks, so that nothing becomes due unseen in between.
    const poked = Promise.withResolvers<void>();
    onPoke(poked.resolve);
    const now = clock.now();
    const free = rowsMax - underWay.size;
    const leaseEndsAt = addMs(now, leaseMs);
    // What a process that is ending does not claim, another one finds at once instead of after a lease.
    const claimed = stopped.aborted ? [] : await claimWork(db, { merchantId, queue, now, leaseEndsAt, rowsMax: free });
    for (const work of claimed) {
      const running = handle(options, work).finally(() => underWay.delete(running));
      underWay.add(running);
    }
    if (underWay.size === 0) return;
    if (claimed.length === free) await Promise.race(underWay);
    else await allDoneOrMoreDue(clock, underWay, poked.promise);
  }
}

async function allDoneOrMoreDue(
  clock: Clock,
  underWay: ReadonlySet<Promise<void>>,
  poked: Promise<void>,
): Promise<void> {
  const over = new AbortController();
  await Promise.race([Promise.all(underWay), poked.then(() => clock.sleep(gatherMs, over.signal))]);
  over.abort();
}

/** A handler that fails puts its work off, a little longer each time; the lease would bring it back anyway. */
async function handle({ db, clock, log, handlers }: OutboxSourceOptions, work: Work): Promise<void> {
  const handler = handlers[work.kind];
  try {
    if (!handler) throw new Error(`nobody handles ${work.kind}`);
    await handler(work);
  } catch (error) {
    const { kind, attempts, merchantId } = work;
    log.error('work failed and will be tried again', error, { kind, attempts, merchant_id: merchantId });
    const delayMs = Math.min(failureDelayMaxMs, 1_000 * 2 ** Math.min(Number(attempts) - 1, 10));
    await postponeWork(db, work, addMs(clock.now(), delayMs)).catch((failure: unknown) =>
      log.error('putting work off failed; its lease will end', failure, { kind }),
    );
  }
}
