import type { IncomingHttpHeaders } from 'node:http';
import { addMs, dayMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt, stableIdOfDay } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import type { ProviderNotification } from './contract.ts';
import {
  claimInboxRows,
  deleteHandledInboxRows,
  deleteInboxRow,
  hasDueInboxRows,
  insertInboxRow,
  updateInboxRow,
  upsertHintRow,
  type InboxRow,
  type NewInboxRow,
} from './queries.ts';
import type { NetworkRegistry } from './registry.ts';

export interface InboxContext {
  db: Queryable;
  clock: Clock;
  newId: () => string;
  networks: NetworkRegistry;
  log: Log;
}

/** By which a large table is purged and could be spread; one reference is always in the same shard. */
const shardCount = 16;
const leaseMs = 60_000;
// A notification may arrive before our own commit of what it is about, so one that matches nothing is retried.
const unmatchedDelaysMs = [1_000, 5_000, 30_000, 300_000];
// A failure on our side is retried for a day, so that somebody has time to fix it.
const failedDelaysMs = [1_000, 5_000, 30_000, 300_000];
const failedForMs = dayMs;
/** Thirteen months, whichever they are (docs/operations.md, "Retention"). */
const retentionMs = 400 * dayMs;

// Hints of one reference and day, which anybody can send, bring the look-up forward at once so many times (claims are counted
// too), then once a minute.
const promptAttemptsMax = 40n;
const laterHintMs = 60_000;

export type ReceivedCallback =
  | { accepted: true; shard: bigint }
  /** `unknown`: a hint about nothing of ours. */
  | { accepted: false; reason: 'connector' | 'signature' | 'stale' | 'malformed' | 'unknown' };

export interface ReceivingContext extends InboxContext {
  /** Whether there is a collection, payout or refund with the reference of a notification. */
  isOurs: (notification: ProviderNotification) => Promise<boolean>;
}

/**
 * Verifies a callback over its raw bytes and stores it as received; a worker applies its notifications. A callback that
 * does not verify, or that anybody can send and is about nothing of ours, is not stored, so that nobody can fill the table.
 */
export async function receiveCallback(
  context: ReceivingContext,
  callback: {
    railAccount: string;
    headers: IncomingHttpHeaders;
    query?: Readonly<Record<string, string>>;
    body: Uint8Array;
  },
): Promise<ReceivedCallback> {
  const connector = context.networks.findByAccount(callback.railAccount);
  if (!connector) return { accepted: false, reason: 'connector' };
  const receivedAt = context.clock.now();
  const reading = connector.readCallback({ query: {}, ...callback, receivedAt });
  if (!reading.accepted) return { accepted: false, reason: reading.reason };
  const { notifications } = reading;
  const shard = shardOf(notifications[0]?.reference ?? '');
  const row = {
    shard,
    connector: callback.railAccount,
    body: callback.body,
    notificationsJson: serializeNotifications(notifications),
    receivedAt,
  };
  if (notifications.length === 0 || !notifications.every(isHint)) {
    await insertInboxRow(context.db, { ...row, id: context.newId() });
    return { accepted: true, shard };
  }
  // References are committed before the network is called, so it is not about something to come.
  const areOurs = await Promise.all(notifications.map(context.isOurs));
  if (!areOurs.includes(true)) return { accepted: false, reason: 'unknown' };
  await storeHint(context.db, row);
  return { accepted: true, shard };
}

const isHint = ({ response }: ProviderNotification): boolean => response === null;

/** Once for each day, account and notification: a hint proves nothing, so nobody fills the table with copies. */
async function storeHint(db: Queryable, row: Omit<NewInboxRow, 'id'>): Promise<void> {
  const { receivedAt, connector, notificationsJson } = row;
  const id = stableIdOfDay(receivedAt, connector, notificationsJson);
  await upsertHintRow(db, { ...row, id, laterAt: addMs(receivedAt, laterHintMs), promptAttemptsMax });
}

/** A stored callback that is claimed. */
export type ClaimedCallback = InboxRow;

export function hasDueCallbacks({ db, clock }: Pick<InboxContext, 'db' | 'clock'>): Promise<boolean> {
  return hasDueInboxRows(db, clock.now());
}

/** Claims due callbacks in the order in which they arrived. They are due again when the lease ends, so that none is lost. */
export async function claimCallbacks(
  { db, clock }: Pick<InboxContext, 'db' | 'clock'>,
  rowsMax: number,
): Promise<ClaimedCallback[]> {
  const now = clock.now();
  const rows = await claimInboxRows(db, { now, leaseEndsAt: addMs(now, leaseMs), rowsMax });
  return rows.toSorted((one, another) => one.receivedAt.getTime() - another.receivedAt.getTime());
}

/** What became of one notification; an `unmatched` one is retried for some minutes, a `dropped` one is deleted. */
export type NotificationOutcome = 'applied' | 'unmatched' | 'dropped';

/**
 * The outcome of a notification that matches nothing. One without a response is dropped: references are committed before the
 * network is called, so it is about nothing of ours, and anybody can send it.
 */
export function outcomeOfUnmatched(response: ProviderNotification['response']): NotificationOutcome {
  return response === null ? 'dropped' : 'unmatched';
}

type NotificationHandler = (railAccount: string, notification: ProviderNotification) => Promise<NotificationOutcome>;

/**
 * Returns what handles claimed callbacks: many at once, and those of one reference one after the other. After a crash the
 * handler gets the same notification again, so it must be idempotent. A callback that fails is postponed and blocks no other.
 */
export function createCallbackHandler(
  context: InboxContext,
  handle: NotificationHandler,
): (row: ClaimedCallback) => Promise<void> {
  /** The last one of each reference. */
  const underWay = new Map<string, Promise<void>>();
  const handleAfter = async (row: ClaimedCallback, before: Promise<void> | undefined): Promise<void> => {
    await before;
    const outcome = await handleRow(context.log, row, handle);
    // Its lease brings it back.
    await recordOutcome(context, row, outcome).catch((error: unknown) =>
      context.log.error('the outcome of a callback could not be stored', error, { network: row.connector }),
    );
  };
  return async (row) => {
    const reference = parseNotifications(row.notificationsJson)[0]?.reference ?? '';
    const handling = handleAfter(row, underWay.get(reference));
    underWay.set(reference, handling);
    await handling;
    if (underWay.get(reference) === handling) underWay.delete(reference);
  };
}

async function recordOutcome({ db, clock }: InboxContext, row: InboxRow, outcome: RowOutcome): Promise<void> {
  if (outcome === 'dropped') await deleteInboxRow(db, row);
  else await updateInboxRow(db, { ...row, ...nextStep(row, outcome, clock.now()), outcome });
}

type RowOutcome = NotificationOutcome | 'failed';

async function handleRow(log: Log, row: InboxRow, handle: NotificationHandler): Promise<RowOutcome> {
  try {
    const outcomes: NotificationOutcome[] = [];
    for (const notification of parseNotifications(row.notificationsJson))
      outcomes.push(await handle(row.connector, notification));
    if (outcomes.includes('unmatched')) return 'unmatched';
    return outcomes.length > 0 && outcomes.every((each) => each === 'dropped') ? 'dropped' : 'applied';
  } catch (error) {
    log.error('handling a callback failed', error, { network: row.connector, attempts: row.attempts });
    return 'failed';
  }
}

/** When the callback is due again, or that it is handled for good. */
function nextStep(row: InboxRow, outcome: RowOutcome, now: Date): { dueAt: Date | null; handledAt: Date | null } {
  const delayMs = retryDelayMs(row, outcome, now);
  return delayMs === undefined ? { dueAt: null, handledAt: now } : { dueAt: addMs(now, delayMs), handledAt: null };
}

/** Undefined when no retry is left. */
function retryDelayMs(row: InboxRow, outcome: RowOutcome, now: Date): number | undefined {
  const index = Number(row.attempts) - 1;
  if (outcome === 'unmatched') return unmatchedDelaysMs[index];
  if (outcome !== 'failed' || now >= addMs(row.receivedAt, failedForMs)) return undefined;
  return failedDelaysMs[Math.min(index, failedDelaysMs.length - 1)];
}

/** One reference always falls into the same shard. */
function shardOf(reference: string): bigint {
  let hash = 0;
  for (const character of reference) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return BigInt(hash % shardCount);
}

/**
 * Deletes callbacks that were handled more than thirteen months ago, one batch of each shard; a callback that was never
 * handled is retained. Returns how many were deleted.
 */
export async function purgeInbox({ db, clock }: Pick<InboxContext, 'db' | 'clock'>): Promise<number> {
  const handledBefore = addMs(clock.now(), -retentionMs);
  const beforeId = firstIdAt(handledBefore);
  let count = 0;
  for (let shard = 0; shard < shardCount; shard += 1) {
    count += await deleteHandledInboxRows(db, { shard: BigInt(shard), beforeId, handledBefore });
  }
  return count;
}

// JSON has no bigint; amounts are stored as `{"bigint": "450"}`, which no connector's own text looks like.
interface StoredBigint {
  bigint: string;
}

/** Notifications as text that keeps amounts exactly. Rows outlive a release, so the names in it are part of the stored format. */
function serializeNotifications(notifications: readonly ProviderNotification[]): string {
  return JSON.stringify(notifications, (_name, value: unknown) =>
    typeof value === 'bigint' ? ({ bigint: value.toString() } satisfies StoredBigint) : value,
  );
}

function parseNotifications(text: string): ProviderNotification[] {
  return JSON.parse(text, (_name, value: unknown) =>
    isStoredBigint(value) ? BigInt(value.bigint) : value,
  ) as ProviderNotification[];
}

function isStoredBigint(value: unknown): value is StoredBigint {
  return typeof value === 'object' && value !== null && 'bigint' in value && typeof value.bigint === 'string';
}
