import type { Queryable } from '../kit/db.ts';
import type { InboxRow, NewInboxRow } from './inbox.ts';
import type { ReceiptClaim } from './receipts.ts';

/** One row per rail account, transaction and kind, whoever comes first. */
export function insertReceiptOnce(db: Queryable, claim: ReceiptClaim & { createdAt: Date }): Promise<number> {
  return db.run({
    name: 'network_receipts_insert_once',
    text: `INSERT INTO network_receipts (rail_account, transaction_id, kind, merchant_id, subject_id, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (rail_account, transaction_id, kind) DO NOTHING`,
    values: [claim.railAccount, claim.transactionId, claim.kind, claim.merchantId, claim.subjectId, claim.createdAt],
  });
}

export function findReceiptOwner(
  db: Queryable,
  claim: ReceiptClaim,
): Promise<{ merchantId: string; subjectId: string } | undefined> {
  return db.row({
    name: 'network_receipts_find_owner',
    text: `-- across merchants: a transaction settles one thing, whichever merchant's
           SELECT merchant_id AS "merchantId", subject_id AS "subjectId" FROM network_receipts
           WHERE rail_account = $1 AND transaction_id = $2 AND kind = $3`,
    values: [claim.railAccount, claim.transactionId, claim.kind],
  });
}

export function insertInboxRow(db: Queryable, row: NewInboxRow): Promise<number> {
  return db.run({
    name: 'network_inbox_insert',
    text: `INSERT INTO network_inbox (lane, id, connector, headers, body, due_at, attempts, received_at)
           VALUES ($1, $2, $3, $4, $5, $6, 0, $6)`,
    values: [row.lane, row.id, row.connector, JSON.stringify(row.headers), row.body, row.receivedAt],
  });
}

/** Due rows of one lane; what another worker is claiming is skipped. */
export function claimInboxRows(
  db: Queryable,
  claim: { lane: bigint; now: Date; leaseEndsAt: Date; rowsMax: number },
): Promise<InboxRow[]> {
  return db.rows<InboxRow>({
    name: 'network_inbox_claim',
    text: `WITH due AS (
             SELECT id FROM network_inbox WHERE lane = $1 AND due_at <= $2
             ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED
           )
           UPDATE network_inbox SET due_at = $3, attempts = network_inbox.attempts + 1
           FROM due WHERE network_inbox.lane = $1 AND network_inbox.id = due.id
           RETURNING network_inbox.lane, network_inbox.id, connector, headers, body, attempts,
                     received_at AS "receivedAt"`,
    values: [claim.lane, claim.now, claim.leaseEndsAt, claim.rowsMax],
  });
}

/** Ends a row (`dueAt` null) or puts it off. */
export function updateInboxRow(
  db: Queryable,
  row: { lane: bigint; id: string; dueAt: Date | null; handledAt: Date | null; outcome: string },
): Promise<number> {
  return db.run({
    name: 'network_inbox_update',
    text: `UPDATE network_inbox SET due_at = $3, handled_at = $4, outcome = $5 WHERE lane = $1 AND id = $2`,
    values: [row.lane, row.id, row.dueAt, row.handledAt, row.outcome],
  });
}

export async function listLanesWithDueRows(db: Queryable, now: Date): Promise<bigint[]> {
  const rows = await db.rows<{ lane: bigint }>({
    name: 'network_inbox_lanes_due',
    text: 'SELECT DISTINCT lane FROM network_inbox WHERE due_at <= $1 ORDER BY lane',
    values: [now],
  });
  return rows.map((row) => row.lane);
}

/** Touches one row unless a prompt is open there. */
export function openPrompt(
  db: Queryable,
  prompt: { number: string; network: string; now: Date; openUntil: Date },
): Promise<number> {
  return db.run({
    name: 'network_prompts_open',
    text: `INSERT INTO network_prompts (number, network, open_until, hour_started_at, asked)
           VALUES ($1, $2, $4, $3, 1)
           ON CONFLICT (number, network) DO UPDATE SET open_until = excluded.open_until, asked = network_prompts.asked + 1
           WHERE network_prompts.open_until <= $3`,
    values: [prompt.number, prompt.network, prompt.now, prompt.openUntil],
  });
}

/** Touches one row unless the number was asked `countMax` times within the hour. */
export function countPrompt(
  db: Queryable,
  prompt: { number: string; now: Date; hourAgo: Date; countMax: bigint },
): Promise<number> {
  return db.run({
    name: 'network_prompts_count',
    text: `INSERT INTO network_prompts (number, network, open_until, hour_started_at, asked)
           VALUES ($1, '*', $2, $2, 1)
           ON CONFLICT (number, network) DO UPDATE
           SET asked = CASE WHEN network_prompts.hour_started_at <= $3 THEN 1 ELSE network_prompts.asked + 1 END,
               hour_started_at = CASE WHEN network_prompts.hour_started_at <= $3 THEN $2
                                      ELSE network_prompts.hour_started_at END
           WHERE network_prompts.asked < $4 OR network_prompts.hour_started_at <= $3`,
    values: [prompt.number, prompt.now, prompt.hourAgo, prompt.countMax],
  });
}

export function closePrompt(db: Queryable, prompt: { number: string; network: string; now: Date }): Promise<number> {
  return db.run({
    name: 'network_prompts_close',
    text: 'UPDATE network_prompts SET open_until = $3 WHERE number = $1 AND network = $2 AND open_until > $3',
    values: [prompt.number, prompt.network, prompt.now],
  });
}
