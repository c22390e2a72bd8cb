import type { IncomingHttpHeaders } from 'node:http';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { thirteenMonthsMs } from '../kit/retention-periods.ts';
import type { Log } from '../kit/log.ts';
import type { ProviderNotification } from './contract.ts';
import { readNotifications, writeNotifications } from './notification-json.ts';
import {
  claimInboxRows,
  deleteHandledInboxRows,
  insertInboxRow,
  listShardsWithDueRows,
  updateInboxRow,
} from './queries.ts';
import type { InboxRow } from './queries.ts';
import { callbackName } from './registry.ts';
import type { NetworkRegistry } from './registry.ts';

export interface InboxContext {
  db: Queryable;
  clock: Clock;
  newId: () => string;
  networks: NetworkRegistry;
  log: Log;
}

/** Workers claim by lane, so that several of them work side by side; more lanes than workers anyone runs. */
const shardCount = 16;
const leaseMs = 60_000;
const rowsMax = 50;
// News of something we do not know (yet) is tried again: a callback may overtake our own commit.
const unmatchedDelaysMs = [1_000, 5_000, 30_000, 300_000];
// What fails on our side is tried until somebody has had a day to mend it.
const failedDelaysMs = [1_000, 5_000, 30_000, 300_000];
const failedForMs = 24 * 60 * 60 * 1_000;

export type ReceivedCallback = { accepted: true; shard: bigint } | { accepted: false; reason: string };

/**
 * Verifies a callback over its raw bytes and stores it as it came; answered at once, handled by a worker. One that does
 * not verify changes nothing and is not stored, so that nobody can fill the table.
 */
export async function receiveCallback(
  context: InboxContext,
  callback: { connectorName: string; headers: IncomingHttpHeaders; body: Uint8Array },
): Promise<ReceivedCallback> {
  const connector = context.networks.findByCallbackName(callback.connectorName);
  if (!connector) return { accepted: false, reason: 'connector' };
  const receivedAt = context.clock.now();
  const reading = connector.readCallback({ ...callback, receivedAt });
  if (!reading.accepted) return { accepted: false, reason: reading.reason };
  const shard = shardOf(reading.notifications[0]?.reference ?? '');
  await insertInboxRow(context.db, {
    shard,
    id: context.newId(),
    connector: callbackName(connector),
    body: callback.body,
    news: writeNotifications(reading.notifications),
    receivedAt,
  });
  return { accepted: true, shard };
}

/** What the handler made of one piece of news; `unmatched` is tried again for a while. */
export type NotificationOutcome = 'applied' | 'unmatched';

type NotificationHandler = (connectorName: string, notification: ProviderNotification) => Promise<NotificationOutcome>;

/**
 * Works off one lane's due callbacks. The handler may see the same news again after a crash and must be able to take
 * it. One that it fails on is put off and keeps none of the others waiting.
 */
export async function processInboxShard(
  context: InboxContext,
  shard: bigint,
  handle: NotificationHandler,
): Promise<void> {
  const now = context.clock.now();
  const rows = await claimInboxRows(context.db, { shard, now, leaseEndsAt: addMs(now, leaseMs), rowsMax });
  for (const row of rows) await processRow(context, row, handle);
}

export function listDueShards(context: InboxContext): Promise<bigint[]> {
  return listShardsWithDueRows(context.db, context.clock.now());
}

/**
 * Deletes callbacks that were handled longer ago than thirteen months, a batch of each lane at a time; what was never
 * handled stays. Answers how many went.
 */
export async function purgeInbox({ db, clock }: Pick<InboxContext, 'db' | 'clock'>): Promise<number> {
  const handledBefore = addMs(clock.now(), -thirteenMonthsMs);
  const beforeId = firstIdAt(handledBefore);
  let count = 0;
  for (let shard = 0; shard < shardCount; shard += 1) {
    count += await deleteHandledInboxRows(db, { shard: BigInt(shard), beforeId, handledBefore });
  }
  return count;
}

async function processRow(context: InboxContext, row: InboxRow, handle: NotificationHandler): Promise<void> {
  const outcome = await handleRow(context, row, handle);
  const now = context.clock.now();
  const delayMs = retryDelayMs(row, outcome, now);
  const next =
    delayMs === undefined ? { dueAt: null, handledAt: now } : { dueAt: addMs(now, delayMs), handledAt: null };
  await updateInboxRow(context.db, { ...row, ...next, outcome });
}

type RowOutcome = NotificationOutcome | 'failed';

async function handleRow(context: InboxContext, row: InboxRow, handle: NotificationHandler): Promise<RowOutcome> {
  const fields = { network: row.connector, attempts: row.attempts };
  try {
    const outcomes: NotificationOutcome[] = [];
    for (const notification of readNotifications(row.news)) outcomes.push(await handle(row.connector, notification));
    return outcomes.includes('unmatched') ? 'unmatched' : 'applied';
  } catch (error) {
    context.log.error('handling a callback failed', error, fields);
    return 'failed';
  }
}

/** Undefined when there is nothing more to try. */
function retryDelayMs(row: InboxRow, outcome: RowOutcome, now: Date): number | undefined {
  const index = Number(row.attempts) - 1;
  if (outcome === 'unmatched') return unmatchedDelaysMs[index];
  if (outcome !== 'failed' || now >= addMs(row.receivedAt, failedForMs)) return undefined;
  return failedDelaysMs[Math.min(index, failedDelaysMs.length - 1)];
}

/** The same reference always falls into the same lane, so its news is worked in order. */
function shardOf(reference: string): bigint {
  let hash = 0;
  for (const character of reference) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return BigInt(hash % shardCount);
}
