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
import type { QueueName, NetworkQueueKind, WorkKind, NewWork, Work, QueueBacklog } from './work.ts';

export const networkQueueKinds: readonly NetworkQueueKind[] = ['starts', 'payouts', 'look-ups'];

/** Test and live are apart too: a simulated network that hangs for testers must not delay anybody's money. */
export function networkQueue(rail: { network: string; testMode: boolean }, kind: NetworkQueueKind): QueueName {
  return `network:${rail.network}${rail.testMode ? '-test' : ''}:${kind}`;
}

/** What everyone who writes work needs: ids and times made here, and a way to notify the workers after the commit. */
export interface WorkContext {
  clock: Clock;
  newId: () => string;
  notifyWorker: (work: { merchantId: string; queue: QueueName }) => void;
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
