import { networkName } from '../../networks/known-networks.ts';
import { summarizeBacklog } from '../../events/outbox.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The work of one queue. */
export interface QueueRow {
  /** `network:wave:payouts`, as `/metrics` has it. */
  name: string;
  text: string;
  dueCount: bigint;
  oldestDueAt: Date | null;
  laterCount: bigint;
}

const kindTexts: Readonly<Record<string, string>> = {
  starts: 'start payments',
  payouts: 'send payouts',
  'look-ups': 'look up outcomes',
};

const queueTexts: Readonly<Record<string, string>> = {
  webhooks: 'Webhooks to businesses',
  settlement: 'Settle payments and pay sub-accounts',
  notifications: 'Chat messages to counters',
};

/** The queues of an environment that have work, and those that both share; the one that is longest late comes first. */
export async function queuesOf({ money, environment, now }: ConsoleVisit): Promise<QueueRow[]> {
  const rows = await summarizeBacklog(money.db, now);
  return rows
    .filter(({ queue }) => !queue.startsWith('network:') || isOfTest(queue) === (environment === 'test'))
    .map(({ queue, count, oldestDueAt, waitingCount }) => ({
      ...{ name: queue, text: textOf(queue), dueCount: count, oldestDueAt, laterCount: waitingCount },
    }))
    .toSorted((one, other) => lateAt(one) - lateAt(other) || one.name.localeCompare(other.name));
}

function lateAt({ oldestDueAt }: QueueRow): number {
  return oldestDueAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}

function isOfTest(queue: string): boolean {
  return queue.split(':')[1]?.endsWith('-test') === true;
}

function textOf(queue: string): string {
  const [, rail = '', kind = ''] = queue.split(':');
  if (!queue.startsWith('network:')) return queueTexts[queue] ?? queue;
  return `${networkName(rail.replace(/-test$/, ''))}: ${kindTexts[kind] ?? kind}`;
}
