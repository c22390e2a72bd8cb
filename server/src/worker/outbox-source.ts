import { claimWork, listMerchantsWithDueWork, postponeWork } from '../events/outbox.ts';
import type { QueueName, Work, WorkKind } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { PiecesUnderWay } from './pieces-under-way.ts';
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
// Merchants for whom is claimed side by side: each a database connection.
const keysMax = 8;
// Together with the limit of a merchant this lets thirty of them have all their calls hang before anybody else waits.
const underWayMax = { totalMax: 512, perKeyMax: 16 };
const failureDelayMaxMs = 60_000;

/** The kind of the topics that wake workers for a queue; the merchant's id follows it. */
export function workTopicKind(queue: QueueName): string {
  return `work_${queue}`;
}

/** The outbox of one queue, worked merchant by merchant so that a long backlog of one keeps nobody waiting. */
export function outboxSource(options: OutboxSourceOptions): WorkSource {
  const { db, clock, queue } = options;
  const underWay = new PiecesUnderWay(underWayMax);
  return {
    name: `work for ${queue}`,
    topicKind: workTopicKind(queue),
    sweepEveryMs,
    keysMax,
    listDueKeys: () => listMerchantsWithDueWork(db, queue, clock.now()),
    run: (merchantId, stopped) => claimRound(options, underWay, { merchantId, stopped }),
    attach: (poke) => underWay.onRoom(poke),
    background: underWay,
  };
}

/**
 * Claims what there is room for and sets it going. The merchant is not held meanwhile: a call that hangs holds up
 * nothing else of its merchant, and no other merchant.
 */
async function claimRound(
  options: OutboxSourceOptions,
  underWay: PiecesUnderWay,
  { merchantId, stopped }: { merchantId: string; stopped: AbortSignal },
): Promise<void> {
  const { db, clock, queue } = options;
  // What a process that is ending does not claim, another one finds at once instead of after a lease.
  if (stopped.aborted) return;
  const room = underWay.reserve(merchantId);
  if (room === 0) return underWay.want(merchantId);
  let claimed: Work[] = [];
  try {
    const now = clock.now();
    const leaseEndsAt = addMs(now, leaseMs);
    claimed = await claimWork(db, { merchantId, queue, now, leaseEndsAt, rowsMax: room });
  } finally {
    underWay.giveBack(merchantId, room - claimed.length);
  }
  if (claimed.length === room) underWay.want(merchantId);
  for (const work of claimed) underWay.follow(merchantId, handle(options, work));
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
