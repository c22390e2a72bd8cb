import { assert } from '../kit/assert.ts';
import type { Queryable, Statement } from '../kit/db.ts';
import type { NewEvent, StoredEvent } from './event.ts';
import type { NewWork, QueueBacklog, QueueName, Work, WorkKind } from './work.ts';

/** Unique per object and sequence number: two writers of one object cannot both tell of the same step. */
export function insertEvent(event: NewEvent & { id: string; requestId: string | null; createdAt: Date }): Statement {
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
      JSON.stringify(event.record),
      event.callbackUrl,
      event.requestId,
      event.createdAt,
    ],
  };
}

/** One row per merchant, kind and subject; asking again brings it forward and outdates a claim under way. */
export function upsertOutboxRow(work: NewWork & { dueAt: Date; createdAt: Date }): Statement {
  return {
    name: 'outbox_upsert',
    text: `INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
           VALUES ($1, $2, $3, $4, $5, 0, 0, $6)
           ON CONFLICT (merchant_id, kind, subject_id) DO UPDATE
           SET due_at = LEAST(outbox.due_at, excluded.due_at), version = outbox.version + 1`,
    values: [work.merchantId, work.kind, work.subjectId, work.queue, work.dueAt, work.createdAt],
  };
}

// No claim may ask for more. It stands in the statements, because a limit that is a parameter makes the planner reckon
// with a tenth of a merchant's backlog: at 100,000 rows it read the whole table for each claim (89 ms).
const claimRowsMax = 128;

/** Rows that another worker is claiming are skipped, so no two workers ever get the same claim. */
export function claimOutboxRows(
  db: Queryable,
  claim: { merchantId: string; queue: QueueName; now: Date; leaseEndsAt: Date; rowsMax: number },
): Promise<Work[]> {
  assert(claim.rowsMax <= claimRowsMax, 'a claim asks for more than the statement gives');
  return db.rows<Work>({
    name: 'outbox_claim',
    text: `WITH due AS (
             SELECT kind, subject_id FROM (
               SELECT kind, subject_id FROM outbox
               WHERE merchant_id = $1 AND queue = $2 AND due_at <= $3
               ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT ${claimRowsMax}
           )
           UPDATE outbox SET due_at = $4, attempts = outbox.attempts + 1, version = outbox.version + 1
           FROM due
           WHERE outbox.merchant_id = $1 AND outbox.kind = due.kind AND outbox.subject_id = due.subject_id
           RETURNING outbox.merchant_id AS "merchantId", outbox.queue, outbox.kind,
                     outbox.subject_id AS "subjectId", outbox.attempts, outbox.version,
                     outbox.created_at AS "createdAt"`,
    values: [claim.merchantId, claim.queue, claim.now, claim.leaseEndsAt, claim.rowsMax],
  });
}

/** Gone with the caller's transaction; rows that another worker has are skipped. */
export function consumeOutboxRows(
  db: Queryable,
  claim: { merchantId: string; queue: QueueName; kind: WorkKind; now: Date; rowsMax: number },
): Promise<Work[]> {
  assert(claim.rowsMax <= claimRowsMax, 'a claim asks for more than the statement gives');
  return db.rows<Work>({
    name: 'outbox_take',
    text: `WITH due AS (
             SELECT kind, subject_id FROM (
               SELECT kind, subject_id FROM outbox
               WHERE merchant_id = $1 AND queue = $2 AND kind = $3 AND due_at <= $4
               ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT ${claimRowsMax}
           )
           DELETE FROM outbox USING due
           WHERE outbox.merchant_id = $1 AND outbox.kind = due.kind AND outbox.subject_id = due.subject_id
           RETURNING outbox.merchant_id AS "merchantId", outbox.queue, outbox.kind,
                     outbox.subject_id AS "subjectId", outbox.attempts, outbox.version,
                     outbox.created_at AS "createdAt"`,
    values: [claim.merchantId, claim.queue, claim.kind, claim.now, claim.rowsMax],
  });
}

export function deleteOutboxRow(work: Work): Statement {
  return {
    name: 'outbox_delete',
    text: 'DELETE FROM outbox WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3 AND version = $4',
    values: [work.merchantId, work.kind, work.subjectId, work.version],
  };
}

/** Whoever has claimed the row finds it gone, and that there was nothing left to do. */
export function cancelOutboxRow(work: Pick<Work, 'merchantId' | 'kind' | 'subjectId'>): Statement {
  return {
    name: 'outbox_cancel',
    text: 'DELETE FROM outbox WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3',
    values: [work.merchantId, work.kind, work.subjectId],
  };
}

export function postponeOutboxRow(work: Work, dueAt: Date): Statement {
  return {
    name: 'outbox_postpone',
    text: 'UPDATE outbox SET due_at = $5 WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3 AND version = $4',
    values: [work.merchantId, work.kind, work.subjectId, work.version, dueAt],
  };
}

/**
 * Who has due work in which queue: one index probe for each merchant and, where the merchant has any work at all, one
 * for each queue. A long backlog hides nobody: only the first row of an index is looked at; an EXISTS, or a LIMIT
 * without its order, would let the planner read the whole backlog. With 10,000 merchants, 200 of them busy, 13 queues
 * cost about what one costs alone (30 ms); asked for one by one they cost ten times that.
 */
export function listOutboxDue(
  db: Queryable,
  queues: readonly QueueName[],
  now: Date,
): Promise<{ merchantId: string; queue: QueueName }[]> {
  return db.rows({
    name: 'outbox_due',
    text: `-- across merchants: a worker looks for whoever has something to do
           SELECT merchants.id AS "merchantId", wanted.queue FROM merchants
           CROSS JOIN LATERAL (
             SELECT kind FROM outbox WHERE outbox.merchant_id = merchants.id ORDER BY kind, subject_id LIMIT 1
           ) AS busy
           CROSS JOIN unnest($1::text[]) AS wanted (queue)
           CROSS JOIN LATERAL (
             SELECT due_at FROM outbox WHERE outbox.merchant_id = merchants.id AND outbox.queue = wanted.queue
             ORDER BY due_at LIMIT 1
           ) AS earliest
           WHERE earliest.due_at <= $2`,
    values: [[...queues], now],
  });
}

/** How much is due in each queue and since when, and how much waits for a later moment. */
export function summarizeOutbox(db: Queryable, now: Date): Promise<QueueBacklog[]> {
  return db.rows<QueueBacklog>({
    name: 'outbox_summary',
    text: `-- across merchants: the operator watches the queues
           SELECT queue, count(*) FILTER (WHERE due_at <= $1) AS count,
                  min(due_at) FILTER (WHERE due_at <= $1) AS "oldestDueAt",
                  count(*) FILTER (WHERE due_at > $1) AS "waitingCount"
           FROM outbox GROUP BY queue`,
    values: [now],
  });
}

/** The events of a few objects, oldest first; bounded, because an object has a handful of them. */
export function listEventsOfObjects(
  db: Queryable,
  merchantId: string,
  objectIds: readonly string[],
): Promise<StoredEvent[]> {
  return db.rows<StoredEvent>({
    name: 'events_list_of_objects',
    text: `SELECT merchant_id AS "merchantId", id, kind, object_id AS "objectId", sequence, record,
                  callback_url AS "callbackUrl", request_id AS "requestId", created_at AS "createdAt"
           FROM events WHERE merchant_id = $1 AND object_id = ANY ($2::uuid[]) ORDER BY id LIMIT 500`,
    values: [merchantId, [...objectIds]],
  });
}
