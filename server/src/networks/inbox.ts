import type { IncomingHttpHeaders } from 'node:http';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { CallbackNews } from './contract.ts';
import { claimInboxRows, insertInboxRow, listLanesWithDueRows, updateInboxRow } from './queries.ts';
import { callbackName } from './registry.ts';
import type { NetworkRegistry } from './registry.ts';

export interface NewInboxRow {
  lane: bigint;
  id: string;
  connector: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
  receivedAt: Date;
}

export interface InboxRow extends NewInboxRow {
  attempts: bigint;
}

export interface InboxContext {
  db: Queryable;
  clock: Clock;
  newId: () => string;
  networks: NetworkRegistry;
}

/** Workers claim by lane, so that several of them work side by side; more lanes than workers anyone runs. */
const lanes = 16;
const leaseMs = 60_000;
const rowsMax = 50;
// News of something we do not know (yet) is tried again: a callback may overtake our own commit.
const unmatchedDelaysMs = [1_000, 5_000, 30_000, 300_000];

export type ReceivedCallback = { accepted: true; lane: bigint } | { accepted: false; reason: string };

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
  const lane = laneOf(reading.news[0]?.reference ?? '');
  await insertInboxRow(context.db, {
    lane,
    id: context.newId(),
    connector: callbackName(connector),
    headers: callback.headers,
    body: callback.body,
    receivedAt,
  });
  return { accepted: true, lane };
}

/** What the handler made of one piece of news; `unmatched` is tried again for a while. */
export type NewsOutcome = 'applied' | 'unmatched';

/**
 * Works off one lane's due callbacks. The handler may see the same news again after a crash and must be able to take
 * it.
 */
export async function workInboxLane(
  context: InboxContext,
  lane: bigint,
  handle: (connectorName: string, news: CallbackNews) => Promise<NewsOutcome>,
): Promise<void> {
  const now = context.clock.now();
  const rows = await claimInboxRows(context.db, { lane, now, leaseEndsAt: addMs(now, leaseMs), rowsMax });
  for (const row of rows) await workRow(context, row, handle);
}

export function listDueLanes(context: InboxContext): Promise<bigint[]> {
  return listLanesWithDueRows(context.db, context.clock.now());
}

async function workRow(
  context: InboxContext,
  row: InboxRow,
  handle: (connectorName: string, news: CallbackNews) => Promise<NewsOutcome>,
): Promise<void> {
  const reading = context.networks.findByCallbackName(row.connector)?.readCallback(row);
  const outcomes: NewsOutcome[] = [];
  for (const news of reading?.accepted ? reading.news : []) outcomes.push(await handle(row.connector, news));
  const now = context.clock.now();
  const delayMs = outcomes.includes('unmatched') ? unmatchedDelaysMs[Number(row.attempts) - 1] : undefined;
  if (delayMs === undefined) {
    const outcome = outcomes.includes('unmatched') ? 'unmatched' : 'applied';
    await updateInboxRow(context.db, { ...row, dueAt: null, handledAt: now, outcome });
  } else {
    await updateInboxRow(context.db, { ...row, dueAt: addMs(now, delayMs), handledAt: null, outcome: 'unmatched' });
  }
}

/** The same reference always falls into the same lane, so its news is worked in order. */
function laneOf(reference: string): bigint {
  let hash = 0;
  for (const character of reference) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return BigInt(hash % lanes);
}
