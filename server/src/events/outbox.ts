import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import {
  cancelOutboxRow,
  claimOutboxRows,
  deleteOutboxRow,
  listOutboxDue,
  postponeOutboxRow,
  consumeOutboxRows,
  summarizeOutbox,
  upsertOutboxRow,
} from './queries.ts';

/** Queues are worked side by side, each with limits of its own, so that one that hangs delays no other. */
export type QueueName = 'webhooks' | 'settlement' | 'notifications' | `network:${string}` | typeof oldNetworkQueue;

/**
 * Where the version before wrote all work for networks. It is still worked, because processes of that version may go on
 * writing there while this one starts.
 */
export const oldNetworkQueue = 'networks';

/**
 * The queues of one network. A payer waits for a `start`, so it never waits behind payouts that are held back; and what
 * begins something never waits behind `look-ups`, which also hold the cancellations: both are of things that were sent
 * before.
 */
export type NetworkQueueKind = 'starts' | 'payouts' | 'look-ups';

export const networkQueueKinds: readonly NetworkQueueKind[] = ['starts', 'payouts', 'look-ups'];

/** Test and live are apart too: a simulated network that hangs for testers must not delay anybody's money. */
export function networkQueue(rail: { network: string; testMode: boolean }, kind: NetworkQueueKind): QueueName {
  return `network:${rail.network}${rail.testMode ? '-test' : ''}:${kind}`;
}

/** What work there is. A subject has at most one row of a kind: asking twice brings the one forward. */
export type WorkKind =
  | 'start_charge'
  | 'look_up_charge'
  | 'cancel_charge'
  | 'send_transfer'
  | 'look_up_transfer'
  | 'settle_charge'
  | 'notify_charge'
  | 'dispatch_event';

/** What everyone who writes work needs: ids and times made here, and a way to wake the workers after the commit. */
export interface WorkContext {
  clock: Clock;
  newId: () => string;
  notifyWorker: (work: { merchantId: string; queue: QueueName }) => void;
}

export interface NewWork {
  merchantId: string;
  queue: QueueName;
  kind: WorkKind;
  subjectId: string;
  /** Defaults to now. */
  dueAt?: Date;
}

export interface Work {
  merchantId: string;
  queue: QueueName;
  kind: WorkKind;
  subjectId: string;
  /** Counts the claims, this one included. */
  attempts: bigint;
  version: bigint;
  /** When it was first asked for. */
  createdAt: Date;
}

/** Writes work into the transaction of the change that makes it necessary, and wakes a worker once that committed. */
export function enqueue(tx: Transaction, context: WorkContext, work: NewWork): void {
  const now = context.clock.now();
  tx.send(upsertOutboxRow({ ...work, dueAt: work.dueAt ?? now, createdAt: now }));
  if (work.dueAt === undefined || work.dueAt <= now) {
    tx.afterCommit(() => context.notifyWorker({ merchantId: work.merchantId, queue: work.queue }));
  }
}

/** Takes back work that a change has made unnecessary, in the transaction of that change. */
export function cancelWork(tx: Transaction, work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): void {
  tx.send(cancelOutboxRow(work));
}

/**
 * Takes due work of one merchant. It stays in the table, due again at `leaseEndsAt`: what a worker that died had
 * claimed comes back by itself.
 */
export function claimWork(
  db: Queryable,
  claim: { merchantId: string; queue: QueueName; now: Date; leaseEndsAt: Date; rowsMax: number },
): Promise<Work[]> {
  return claimOutboxRows(db, claim);
}

/**
 * Takes due work of one kind for good: it is gone when the transaction commits, and due as before when it does not. For
 * work that is nothing but statements of that transaction.
 */
export function consumeWork(
  tx: Transaction,
  claim: { merchantId: string; queue: QueueName; kind: WorkKind; now: Date; rowsMax: number },
): Promise<Work[]> {
  return consumeOutboxRows(tx, claim);
}

/** Ends claimed work. If someone asked for it again meanwhile, the row stays and is due. */
export async function completeWork(db: Queryable, work: Work): Promise<void> {
  await db.run(deleteOutboxRow(work));
}

/** The same in the transaction of what was done. */
export function completeWorkWith(tx: Transaction, work: Work): void {
  tx.send(deleteOutboxRow(work));
}

/** Puts claimed work off until `dueAt`, unless someone asked for it again meanwhile. */
export async function postponeWork(db: Queryable, work: Work, dueAt: Date): Promise<void> {
  await db.run(postponeOutboxRow(work, dueAt));
}

export interface QueueBacklog {
  queue: string;
  /** Pieces that are due. */
  count: bigint;
  /** Null when nothing is due. */
  oldestDueAt: Date | null;
  /** Pieces that wait for a later moment, or are being done. */
  waitingCount: bigint;
}

/** How full each queue is, for the operator's figures. */
export function outboxBacklog(db: Queryable, now: Date): Promise<QueueBacklog[]> {
  return summarizeOutbox(db, now);
}

/** Who has due work in which of the queues. */
export function listDueWork(
  db: Queryable,
  queues: readonly QueueName[],
  now: Date,
): Promise<{ merchantId: string; queue: QueueName }[]> {
  return listOutboxDue(db, queues, now);
}
