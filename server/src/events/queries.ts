import { assert } from '../kit/assert.ts';
import type { Queryable, Statement } from '../kit/db.ts';
import { rowsBy, runBy } from '../kit/run-statement.ts';
import { statementForMany, typedRow } from '../kit/many-rows.ts';
import { isNodeAway } from '../kit/db-errors.ts';
import { searchParts, type DueSearch } from '../kit/due-floors.ts';
import { sweepBy, sweepMerchants } from '../kit/sweep.ts';
import type { NewEvent, StoredEvent, WrittenEvent } from './event.ts';
import type { JsonRecord } from './kinds.ts';
import type { ClaimedWork, NewWork, QueueBacklog, QueueName, Work } from './work.ts';

/** Unique per object and sequence number: two writers of one object cannot both emit the same step. */
export function insertEvent(event: WrittenEvent & Pick<NewEvent, 'objectId'>): Statement {
  return {
    name: 'events_insert',
    text: `INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, callback_url, request_id,
             created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      event.merchantId,
      event.id,
      event.kind,
      event.objectId,
      event.sequence,
      event.recordText,
      event.callbackUrl,
      event.requestId,
      event.createdAt,
    ],
    rowKey: event.id,
  };
}

/** One row per merchant, kind and subject; enqueuing it again brings it forward and outdates a claim under way. */
export function upsertOutboxRow(work: NewWork & { dueAt: Date; createdAt: Date }): Statement {
  return {
    name: 'outbox_upsert',
    text: `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
           VALUES ($1, $2, $3, $4, $5, 0, 0, $6)
           ON CONFLICT (merchant_id, kind, subject_id) DO UPDATE
           SET due_at = LEAST(outbox.due_at, excluded.due_at), version = outbox.version + 1`,
    values: [work.merchantId, work.kind, work.subjectId, work.queue, work.dueAt, work.createdAt],
    rowKey: rowKeyOf(work),
  };
}

// The most that one claim may request. The limit is part of the statements, because with a limit as a parameter the planner
// expects a tenth of a merchant's backlog: at 100,000 rows it read the whole table for each claim (89 ms).
const claimRowsMax = 128;

export interface WorkClaim {
  merchantId: string;
  queue: QueueName;
  now: Date;
  /** Nothing that was due earlier is left; default: looks at all. */
  from?: Date;
  leaseEndsAt: Date;
  rowsMax: number;
}

/**
 * Claims due work of one merchant, the longest due first. It stays in the table, due again at `leaseEndsAt`, so that another worker
 * gets what a dead one had claimed. Rows that another worker is claiming are skipped: no two workers claim the same work.
 */
export function claimWork(db: Queryable, claim: WorkClaim): Promise<ClaimedWork[]> {
  const { merchantId, queue, now, from = new Date(0), leaseEndsAt, rowsMax } = claim;
  assert(rowsMax <= claimRowsMax, 'a claim requests at most as many rows as the statement returns');
  return db.rows<ClaimedWork>({
    name: 'outbox_claim',
    text: `WITH due AS (
             SELECT kind, subject_id, due_at FROM (
               SELECT kind, subject_id, due_at FROM outbox
               WHERE merchant_id = $1 AND queue = $2 AND due_at >= $6 AND due_at <= $3
               ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT ${claimRowsMax}
           )
           UPDATE outbox SET due_at = $4, attempts = outbox.attempts + 1, version = outbox.version + 1
           FROM due
           WHERE outbox.merchant_id = $1 AND outbox.kind = due.kind AND outbox.subject_id = due.subject_id
           RETURNING outbox.merchant_id AS "merchantId", outbox.queue, outbox.kind,
                     outbox.subject_id AS "subjectId", outbox.attempts, outbox.version,
                     outbox.created_at AS "createdAt", due.due_at AS "dueAt"`,
    values: [merchantId, queue, now, leaseEndsAt, rowsMax, from],
  });
}

/** Only as it was claimed: if it was enqueued again meanwhile, it stays. */
export function deleteOutboxRow(work: Work): Statement {
  return statementForMany({
    name: 'outbox_delete',
    text: (rows) => `DELETE FROM outbox USING (VALUES ${rows}) AS done (kind, subject_id, version)
           WHERE outbox.merchant_id = $1 AND outbox.kind = done.kind AND outbox.subject_id = done.subject_id
             AND outbox.version = done.version
           RETURNING outbox.kind || ' ' || outbox.subject_id AS key`,
    parameters: typedRow(2, ['text', 'uuid', 'bigint']),
    values: [work.merchantId, work.kind, work.subjectId, work.version],
    sharedValues: 1,
    ...{ column: 'key', key: rowKeyOf(work) },
  });
}

/** Of the rows of one merchant. */
function rowKeyOf({ kind, subjectId }: Pick<Work, 'kind' | 'subjectId'>): string {
  return `${kind} ${subjectId}`;
}

/** A worker that has claimed the row finds it gone. */
export function cancelOutboxRow(work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): Statement {
  return statementForMany({
    name: 'outbox_cancel',
    text: (rows) => `DELETE FROM outbox USING (VALUES ${rows}) AS cancelled (kind, subject_id)
           WHERE outbox.merchant_id = $1 AND outbox.kind = cancelled.kind AND outbox.subject_id = cancelled.subject_id
           RETURNING outbox.kind || ' ' || outbox.subject_id AS key`,
    parameters: typedRow(2, ['text', 'uuid']),
    values: [work.merchantId, work.kind, work.subjectId],
    sharedValues: 1,
    ...{ column: 'key', key: rowKeyOf(work) },
  });
}

/** Leaves a row that was enqueued again: claims count in both numbers, enqueuing in the version only. */
export function cancelUnrequestedOutboxRow(work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): Statement {
  return statementForMany({
    name: 'outbox_cancel_unrequested',
    text: (rows) => `DELETE FROM outbox USING (VALUES ${rows}) AS cancelled (kind, subject_id)
           WHERE outbox.merchant_id = $1 AND outbox.kind = cancelled.kind AND outbox.subject_id = cancelled.subject_id
             AND outbox.version <= outbox.attempts
           RETURNING outbox.kind || ' ' || outbox.subject_id AS key`,
    parameters: typedRow(2, ['text', 'uuid']),
    values: [work.merchantId, work.kind, work.subjectId],
    sharedValues: 1,
    ...{ column: 'key', key: rowKeyOf(work) },
  });
}

export function postponeOutboxRow(work: Work, dueAt: Date): Statement {
  return statementForMany({
    name: 'outbox_postpone',
    text: (rows) => `UPDATE outbox SET due_at = postponed.due_at
           FROM (VALUES ${rows}) AS postponed (kind, subject_id, version, due_at)
           WHERE outbox.merchant_id = $1 AND outbox.kind = postponed.kind AND outbox.subject_id = postponed.subject_id
             AND outbox.version = postponed.version
           RETURNING outbox.kind || ' ' || outbox.subject_id AS key`,
    parameters: typedRow(2, ['text', 'uuid', 'bigint', 'timestamptz']),
    values: [work.merchantId, work.kind, work.subjectId, work.version, dueAt],
    sharedValues: 1,
    ...{ column: 'key', key: rowKeyOf(work) },
  });
}

interface DueWork {
  merchantId: string;
  queue: QueueName;
}

// More than has usually fallen due since the last sweep. With so many, the sweep looks at each merchant, so that no backlog hides
// another.
const recentRowsMax = 2_000;
// The parts of the merchants that are looked at from the start, each in one of four sweeps: a cluster's shards have one statement less.
const merchantParts = 16;
const sweepsEachPart = searchParts / merchantParts;

/**
 * The merchants with work in these queues that fell due lately, and of a part of the merchants all that is due: while a
 * transaction stays open, looking at all takes as long as all work since would (half a second after 100,000 tasks).
 */
export async function sweepDueWork(
  db: Queryable,
  queues: readonly QueueName[],
  { now, from, isWhole, part }: DueSearch,
): Promise<(DueWork & { fromStart: boolean })[]> {
  const fromStart = (due: readonly DueWork[]) => due.map((each) => ({ ...each, fromStart: true }));
  const recent = isWhole ? null : await listRecentWork(db, { now, from });
  if (recent === null) return fromStart(await listDueWork(db, queues, now));
  const found = new Map(recent.map(({ merchantId, queue }) => [`${queue}/${merchantId}`, { merchantId, queue }]));
  const isPartDue = part % sweepsEachPart === 0;
  return [
    ...[...found.values()].filter(({ queue }) => queues.includes(queue)).map((each) => ({ ...each, fromStart: false })),
    ...(isPartDue ? fromStart(await listDueWork(db, queues, now, part / sweepsEachPart)) : []),
  ];
}

// As the index has it.
const inUtc = (time: string): string => `(${time} AT TIME ZONE 'UTC')`;

/** Null where there may be more than it has read, and while a node of a cluster is away. */
async function listRecentWork(
  db: Queryable,
  { now, from }: Pick<DueSearch, 'now' | 'from'>,
): Promise<DueWork[] | null> {
  try {
    const rows = await db.rows<DueWork>({
      name: 'outbox_due_lately',
      text: `-- across merchants: a worker polls the work of all
             SELECT merchant_id AS "merchantId", queue FROM outbox
             WHERE ${inUtc('due_at')} >= ${inUtc('$1::timestamptz')} AND ${inUtc('due_at')} <= ${inUtc('$2::timestamptz')}
             ORDER BY ${inUtc('due_at')} LIMIT ${recentRowsMax}`,
      values: [from, now],
    });
    return rows.length < recentRowsMax ? rows : null;
  } catch (error) {
    if (isNodeAway(error)) return null;
    throw error;
  }
}

/**
 * The merchants with due work in each of the queues; only of a part of the merchants where one is named. Only the first row of an
 * index is read, however long the backlog; with an EXISTS, or a LIMIT without its order, the planner could read all of it. First one
 * probe for each merchant and, where it has any work, three more, which say all of a merchant whose work is in one queue. Only the
 * others are probed queue by queue.
 */
async function listDueWork(
  db: Queryable,
  queues: readonly QueueName[],
  now: Date,
  part: number | null = null,
): Promise<DueWork[]> {
  const merchants = await listOccupiedQueues(db, part);
  const due: DueWork[] = [];
  const inSeveral: string[] = [];
  for (const { merchantId, firstQueue, firstDueAt, lastQueue } of merchants) {
    if (firstQueue !== lastQueue) inSeveral.push(merchantId);
    else if (firstDueAt <= now && queues.includes(firstQueue)) due.push({ merchantId, queue: firstQueue });
  }
  return inSeveral.length === 0 ? due : [...due, ...(await listDueWorkOf(db, inSeveral, queues, now))];
}

interface OccupiedQueues {
  merchantId: string;
  /** The first queue that has work, by name, and when its earliest is due. */
  firstQueue: QueueName;
  firstDueAt: Date;
  lastQueue: QueueName;
}

const listOccupiedQueues = sweepBy<OccupiedQueues, [part: number | null]>({
  name: 'outbox_due_ends',
  text: `-- across merchants: a worker polls the work of all
         SELECT merchant_places.merchant_id AS "merchantId",
                (SELECT queue FROM outbox WHERE outbox.merchant_id = merchant_places.merchant_id
                 ORDER BY queue, due_at LIMIT 1) AS "firstQueue",
                (SELECT due_at FROM outbox WHERE outbox.merchant_id = merchant_places.merchant_id
                 ORDER BY queue, due_at LIMIT 1) AS "firstDueAt",
                (SELECT queue FROM outbox WHERE outbox.merchant_id = merchant_places.merchant_id
                 ORDER BY queue DESC, due_at DESC LIMIT 1) AS "lastQueue"
         FROM merchant_places
         WHERE ($1::integer IS NULL OR get_byte(uuid_send(merchant_places.merchant_id), 15) % ${merchantParts} = $1)
           AND (SELECT kind FROM outbox WHERE outbox.merchant_id = merchant_places.merchant_id
                ORDER BY kind, subject_id LIMIT 1) IS NOT NULL`,
});

/** The same of these merchants: a probe for each queue. OFFSET keeps the planner from probing twice. */
async function listDueWorkOf(
  db: Queryable,
  merchantIds: readonly string[],
  queues: readonly QueueName[],
  now: Date,
): Promise<DueWork[]> {
  const isDue = queues.map((_queue, index) => `${earliestDueAt('merchant_places.merchant_id', `$${index + 3}`)} <= $1`);
  const rows = await sweepMerchants<{ merchantId: string; isDue: (boolean | null)[] }>(db, {
    name: `outbox_due_${queues.length}`,
    text: `-- across merchants: a worker polls the work of all
           SELECT * FROM (
             SELECT merchant_places.merchant_id AS "merchantId", ARRAY[${isDue.join(', ')}] AS "isDue"
             FROM merchant_places WHERE merchant_places.merchant_id = ANY ($2::uuid[])
             OFFSET 0
           ) AS merchants
           WHERE true = ANY ("isDue")`,
    values: [now, [...merchantIds], ...queues],
  });
  return rows.flatMap((row) =>
    queues.filter((_queue, index) => row.isDue[index]).map((queue) => ({ merchantId: row.merchantId, queue })),
  );
}

const earliestDueAt = (merchant: string, queue: string) => `(SELECT due_at FROM outbox
  WHERE outbox.merchant_id = ${merchant} AND outbox.queue = ${queue} ORDER BY due_at LIMIT 1)`;

/** How much work is due in each queue, since when, and how much is due later; for the operator's figures. */
export const summarizeBacklog = rowsBy<QueueBacklog, [now: Date]>({
  name: 'outbox_summary',
  text: `-- across merchants: the operator watches the queues
         SELECT queue, count(*) FILTER (WHERE due_at <= $1) AS count,
                min(due_at) FILTER (WHERE due_at <= $1) AS "oldestDueAt",
                count(*) FILTER (WHERE due_at > $1) AS "waitingCount"
         FROM outbox GROUP BY queue`,
});

/**
 * Replaces fields of the records of all events about these objects. The record is otherwise as it was written, each value letter by
 * letter. What was sent is with its receivers.
 */
export const replaceFieldsOfEvents = runBy<[merchantId: string, { objectIds: readonly string[]; fields: JsonRecord }]>({
  name: 'events_replace_fields',
  text: `UPDATE events SET record = (
           SELECT json_object_agg(key, CASE WHEN $3::jsonb ? key THEN ($3::jsonb -> key)::json ELSE value END)
           FROM json_each(record)
         )
         WHERE merchant_id = $1 AND object_id = ANY ($2::uuid[])`,
  values: (merchantId, { objectIds, fields }) => [merchantId, [...objectIds], JSON.stringify(fields)],
});

/** The events of a few objects, oldest first; an object has a handful of them. */
export const listEventsOfObjects = rowsBy<StoredEvent, [merchantId: string, objectIds: readonly string[]]>({
  name: 'events_list_of_objects',
  text: `SELECT merchant_id AS "merchantId", id, kind, object_id AS "objectId", sequence, record,
                callback_url AS "callbackUrl", request_id AS "requestId", created_at AS "createdAt"
         FROM events WHERE merchant_id = $1 AND object_id = ANY ($2::uuid[]) ORDER BY id LIMIT 500`,
});
