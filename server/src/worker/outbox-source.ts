import { claimWork, listDueWork, postponeWork } from '../events/outbox.ts';
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
  name: string;
  /** Announces this work; what follows it is a `workKey`. */
  topicKind: string;
  queues: readonly QueueName[];
  handlers: Readonly<Partial<Record<WorkKind, WorkHandler>>>;
}

const sweepEveryMs = 1_000;
// Longer than any handler takes: network calls have their own, shorter limits.
const leaseMs = 60_000;
// Keys for which is claimed side by side: each a database connection, for the moment of the claim.
const keysMax = 8;
// Of each queue. Together with the limit of a merchant this lets thirty of them have all their calls hang there before
// anybody else waits in it; in the other queues nobody ever waits for it.
const underWayMax = { totalMax: 512, perKeyMax: 16 };
const failureDelayMaxMs = 60_000;

/** Whose work in which queue: what is claimed together. */
interface WorkPlace {
  merchantId: string;
  queue: QueueName;
}

/** A work place as one word, for a source's keys and its topics. */
export function workKey({ queue, merchantId }: WorkPlace): string {
  return `${queue}/${merchantId}`;
}

export function merchantOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/**
 * Several queues of the outbox, found by one statement and worked merchant by merchant so that a long backlog of one
 * keeps nobody waiting. What is under way counts against its own queue only: one whose calls all hang is full, and the
 * others go on as if it were not there.
 */
export function outboxSource(options: OutboxSourceOptions): WorkSource {
  const { db, clock, name, topicKind, queues } = options;
  const underWay = new Map<string, QueueUnderWay>(
    queues.map((queue) => [queue, { queue, pieces: new PiecesUnderWay(underWayMax) }]),
  );
  const all = [...underWay.values()].map(({ pieces }) => pieces);
  return {
    name,
    topicKind,
    sweepEveryMs,
    keysMax,
    listDueKeys: async () => (await listDueWork(db, queues, clock.now())).map(workKey),
    run: (key, stopped) => claimRound(options, underWay, { key, stopped }),
    attach: (poke) => {
      for (const pieces of all) pieces.onRoom(poke);
    },
    background: {
      get isIdle() {
        return all.every((pieces) => pieces.isIdle);
      },
      idle: async () => {
        await Promise.all(all.map((pieces) => pieces.idle()));
      },
    },
  };
}

interface QueueUnderWay {
  queue: QueueName;
  pieces: PiecesUnderWay;
}

/**
 * Claims what there is room for and sets it going. The merchant is not held meanwhile: a call that hangs holds up
 * nothing else of its merchant, and no other merchant.
 */
async function claimRound(
  options: OutboxSourceOptions,
  underWay: ReadonlyMap<string, QueueUnderWay>,
  { key, stopped }: { key: string; stopped: AbortSignal },
): Promise<void> {
  const { db, clock } = options;
  const merchantId = merchantOfKey(key);
  const found = underWay.get(key.slice(0, -merchantId.length - 1));
  // A process of another version, or with other networks, announces queues that are not ours.
  if (found === undefined) return;
  const { queue, pieces } = found;
  // What a process that is ending does not claim, another one finds at once instead of after a lease.
  if (stopped.aborted) return;
  const room = pieces.reserve(key);
  if (room === 0) return pieces.want(key);
  let claimed: Work[] = [];
  try {
    const now = clock.now();
    const leaseEndsAt = addMs(now, leaseMs);
    claimed = await claimWork(db, { merchantId, queue, now, leaseEndsAt, rowsMax: room });
  } finally {
    pieces.giveBack(key, room - claimed.length);
  }
  if (claimed.length === room) pieces.want(key);
  for (const work of claimed) pieces.follow(key, handle(options, work));
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
