import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import {
  cancelOutboxRow,
  cancelUnrequestedOutboxRow,
  deleteOutboxRow,
  postponeOutboxRow,
  upsertOutboxRow,
} from './queries.ts';
import type { QueueName, NetworkQueueKind, NewWork, Work } from './work.ts';

export { claimWork, summarizeBacklog, sweepDueWork } from './queries.ts';

export const networkQueueKinds: readonly NetworkQueueKind[] = ['starts', 'payouts', 'look-ups'];

/** Test and live are separate queues: a simulated network that hangs for testers must not delay live money. */
export function networkQueue(rail: { network: string; testMode: boolean }, kind: NetworkQueueKind): QueueName {
  return `network:${rail.network}${rail.testMode ? '-test' : ''}:${kind}`;
}

export function isNetworkQueue(queue: QueueName, kind: NetworkQueueKind): boolean {
  return queue.startsWith('network:') && queue.endsWith(`:${kind}`);
}

/** What writing work needs: times and ids, and a way to notify the workers after the commit. */
export interface WorkContext {
  clock: Clock;
  newId: () => string;
  notifyWorker: (work: { merchantId: string; queue: QueueName }) => void;
}

/**
 * Writes work into the transaction of the change that requires it, and notifies a worker after the commit. What was due earlier is due
 * now: workers look for what falls due from now on.
 */
export function enqueue(
  tx: Transaction,
  { clock, notifyWorker }: Pick<WorkContext, 'clock' | 'notifyWorker'>,
  work: NewWork,
): void {
  const now = clock.now();
  const dueAt = work.dueAt !== undefined && work.dueAt > now ? work.dueAt : now;
  tx.send(upsertOutboxRow({ ...work, dueAt, createdAt: now }));
  if (dueAt === now) tx.afterCommit(() => notifyWorker({ merchantId: work.merchantId, queue: work.queue }));
}

/** Deletes work that a change makes unnecessary, in the transaction of that change. */
export function cancelWork(tx: Transaction, work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): void {
  tx.send(cancelOutboxRow(work));
}

/** The same, but leaves work that was enqueued again since it was first, as a callback does that says something has changed. */
export function cancelUnrequestedWork(tx: Transaction, work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): void {
  tx.send(cancelUnrequestedOutboxRow(work));
}

/** Ends claimed work. If it was enqueued again meanwhile, the row stays and is due. */
export async function completeWork(db: Queryable, work: Work): Promise<void> {
  await db.run(deleteOutboxRow(work));
}

/** The same in the transaction of what was done. */
export function completeWorkWith(tx: Transaction, work: Work): void {
  tx.send(deleteOutboxRow(work));
}

/** Postpones claimed work until `dueAt`, unless it was enqueued again meanwhile. */
export async function postponeWork(db: Queryable, work: Work, dueAt: Date): Promise<void> {
  await db.run(postponeOutboxRow(work, dueAt));
}
