import { assert } from '../kit/assert.ts';
import type { Queryable } from '../kit/db.ts';
import { isFoundBy, rowBy, rowsBy, runBy } from '../kit/run-statement.ts';
import { rowOfId, statementForMany, typedRow } from '../kit/many-rows.ts';
import type { BreakerKey, CircuitBreaker } from './circuit-breaker.ts';

export interface NewInboxRow {
  shard: bigint;
  id: string;
  connector: string;
  body: Uint8Array;
  /** The provider notifications of the callback, as JSON. */
  notificationsJson: string;
  receivedAt: Date;
}

export interface InboxRow extends NewInboxRow {
  attempts: bigint;
}

export interface ProviderTransactionClaim {
  railAccount: string;
  transactionId: string;
  kind: 'collection' | 'payout';
  merchantId: string;
  subjectId: string;
}

/** One row for each rail account, transaction and kind: the first claim wins. */
export function insertProviderTransactionOnce(
  db: Queryable,
  claim: ProviderTransactionClaim & { createdAt: Date },
): Promise<number> {
  return db.run(
    statementForMany({
      name: 'provider_transactions_insert_once',
      text: (
        rows,
      ) => `INSERT INTO provider_transactions (rail_account, kind, transaction_id, merchant_id, subject_id, created_at)
           VALUES ${rows} ON CONFLICT (rail_account, transaction_id, kind) DO NOTHING
           RETURNING transaction_id`,
      parameters: '($1, $2, $3, $4, $5, $6)',
      values: [claim.railAccount, claim.kind, claim.transactionId, claim.merchantId, claim.subjectId, claim.createdAt],
      sharedValues: 2,
      ...{ column: 'transaction_id', key: claim.transactionId },
    }),
  );
}

export const findProviderTransactionOwner = rowBy<
  { merchantId: string; subjectId: string },
  [claim: Pick<ProviderTransactionClaim, 'railAccount' | 'transactionId' | 'kind'>]
>({
  name: 'provider_transactions_find_owner',
  text: `-- across merchants: a transaction settles one thing, whichever merchant's
         SELECT merchant_id AS "merchantId", subject_id AS "subjectId" FROM provider_transactions
         WHERE rail_account = $1 AND transaction_id = $2 AND kind = $3`,
  values: (claim) => [claim.railAccount, claim.transactionId, claim.kind],
});

/** Deletes the subject's own claim only. */
export const deleteProviderTransaction = runBy<[claim: ProviderTransactionClaim]>({
  name: 'provider_transactions_delete',
  text: `DELETE FROM provider_transactions
         WHERE rail_account = $1 AND transaction_id = $2 AND kind = $3 AND merchant_id = $4 AND subject_id = $5`,
  values: (claim) => [claim.railAccount, claim.transactionId, claim.kind, claim.merchantId, claim.subjectId],
});

/** Whether any line of a statement, of whatever day, is of this transaction of the network. */
export const hasLineOfTransaction = isFoundBy<[railAccount: string, transactionIds: readonly string[]]>({
  name: 'statement_lines_has_transaction',
  text: `-- across merchants: a line is an account's, which may serve all of them
         SELECT id FROM statement_lines WHERE rail_account = $1 AND identity = ANY ($2) LIMIT 1`,
  values: (railAccount, transactionIds) => [
    railAccount,
    transactionIds.flatMap((id) => [`collection ${id}`, `other ${id}`]),
  ],
});

export function insertInboxRow(db: Queryable, row: NewInboxRow): Promise<number> {
  return db.run(
    statementForMany({
      name: 'network_inbox_insert',
      // A row may be repeated in the list, whose sizes are fixed; its id is new.
      text: (
        rows,
      ) => `INSERT INTO network_inbox (shard, id, connector, body, notifications, due_at, attempts, received_at)
           VALUES ${rows} ON CONFLICT (shard, id) DO NOTHING RETURNING id`,
      parameters: '($1, $2, $3, $4, $5, $6, 0, $6)',
      values: [row.shard, row.id, row.connector, row.body, row.notificationsJson, row.receivedAt],
      sharedValues: 0,
      ...rowOfId(row.id),
    }),
  );
}

/**
 * A row for the first hint of its id; each further one makes the row due again, the first few at once and then at `laterAt`. One
 * that changes nothing writes nothing.
 */
export const upsertHintRow = runBy<[row: NewInboxRow & { laterAt: Date; promptAttemptsMax: bigint }]>({
  name: 'network_inbox_upsert_hint',
  text: `INSERT INTO network_inbox (shard, id, connector, body, notifications, due_at, attempts, received_at)
         VALUES ($1, $2, $3, $4, $5, $6, 0, $6)
         ON CONFLICT (shard, id) DO UPDATE
         SET due_at = LEAST(network_inbox.due_at, CASE WHEN network_inbox.attempts < $8 THEN $6 ELSE $7 END),
             attempts = network_inbox.attempts + 1
         WHERE network_inbox.due_at IS NULL
            OR network_inbox.due_at > CASE WHEN network_inbox.attempts < $8 THEN $6 ELSE $7 END`,
  values: (row) => [
    row.shard,
    row.id,
    row.connector,
    row.body,
    row.notificationsJson,
    row.receivedAt,
    row.laterAt,
    row.promptAttemptsMax,
  ],
});

// The most that one claim may request. In the statement, so that the planner expects few rows (events/queries.ts).
const claimRowsMax = 128;

/** Due rows of all shards; rows that another worker is claiming are skipped. */
export function claimInboxRows(
  db: Queryable,
  claim: { now: Date; leaseEndsAt: Date; rowsMax: number },
): Promise<InboxRow[]> {
  assert(claim.rowsMax <= claimRowsMax, 'a claim requests at most as many rows as the statement returns');
  return db.rows<InboxRow>({
    name: 'network_inbox_claim',
    text: `WITH due AS (
             SELECT shard, id FROM (
               SELECT shard, id FROM network_inbox WHERE due_at <= $1
               ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT ${claimRowsMax}
           )
           UPDATE network_inbox SET due_at = $2, attempts = network_inbox.attempts + 1
           FROM due WHERE network_inbox.shard = due.shard AND network_inbox.id = due.id
           RETURNING network_inbox.shard, network_inbox.id, connector, body, notifications::text AS "notificationsJson",
                     attempts, received_at AS "receivedAt"`,
    values: [claim.now, claim.leaseEndsAt, claim.rowsMax],
  });
}

/** Completes a row (`dueAt` null) or postpones it, unless it was claimed or became due again meanwhile. */
export function updateInboxRow(
  db: Queryable,
  row: { shard: bigint; id: string; attempts: bigint; dueAt: Date | null; handledAt: Date | null; outcome: string },
): Promise<number> {
  return db.run(
    statementForMany({
      name: 'network_inbox_update',
      text: (rows) => `UPDATE network_inbox
           SET due_at = handled.due_at, handled_at = handled.handled_at, outcome = handled.outcome
           FROM (VALUES ${rows}) AS handled (shard, id, attempts, due_at, handled_at, outcome)
           WHERE network_inbox.shard = handled.shard AND network_inbox.id = handled.id
             AND network_inbox.attempts = handled.attempts
           RETURNING network_inbox.id`,
      parameters: typedRow(1, ['bigint', 'uuid', 'bigint', 'timestamptz', 'timestamptz', 'text']),
      values: [row.shard, row.id, row.attempts, row.dueAt, row.handledAt, row.outcome],
      sharedValues: 0,
      ...rowOfId(row.id),
    }),
  );
}

export const deleteInboxRow = runBy<[row: { shard: bigint; id: string; attempts: bigint }]>({
  name: 'network_inbox_delete',
  text: 'DELETE FROM network_inbox WHERE shard = $1 AND id = $2 AND attempts = $3',
  values: (row) => [row.shard, row.id, row.attempts],
});

export const hasDueInboxRows = isFoundBy<[now: Date]>({
  name: 'network_inbox_due',
  // In the order of the index of rows with a time, of which there are few; without it, all rows could be read.
  text: 'SELECT 1 FROM network_inbox WHERE due_at <= $1 ORDER BY shard, due_at LIMIT 1',
});

// A literal in the statement, so that every plan walks the primary key from its old end. Rows are deleted by ctid: for 500
// keys the planner would scan the whole table.
const purgedRowsMax = 500;

/** Deletes a batch of one shard's rows, oldest first: those before this id that were handled before this time. */
export const deleteHandledInboxRows = runBy<[purge: { shard: bigint; beforeId: string; handledBefore: Date }]>({
  name: 'network_inbox_delete_handled',
  text: `DELETE FROM network_inbox WHERE shard = $1 AND ctid = ANY (ARRAY(
           SELECT ctid FROM network_inbox WHERE shard = $1 AND id < $2 AND handled_at < $3
           ORDER BY id LIMIT ${purgedRowsMax}
         ))`,
  values: (purge) => [purge.shard, purge.beforeId, purge.handledBefore],
});

/** Writes one row, or none if another charge's prompt is open there. */
export const openPrompt = runBy<
  [prompt: { number: string; network: string; chargeId: string; now: Date; openUntil: Date }]
>({
  name: 'network_prompts_open',
  text: `INSERT INTO network_prompts (number, network, charge_id, open_until) VALUES ($1, $2, $3, $5)
         ON CONFLICT (number, network) DO UPDATE
         SET charge_id = excluded.charge_id, open_until = excluded.open_until
         WHERE network_prompts.open_until <= $4`,
  values: (prompt) => [prompt.number, prompt.network, prompt.chargeId, prompt.now, prompt.openUntil],
});

/** Writes one row, or none if the number was prompted ten times after `since`. */
export const addPromptTime = runBy<[prompt: { number: string; now: Date; since: Date }]>({
  name: 'network_prompt_times_add',
  text: `INSERT INTO network_prompt_times (number, prompted_at) VALUES ($1, ARRAY[$2::timestamptz])
         ON CONFLICT (number) DO UPDATE
         SET prompted_at = trim_array(array_prepend($2::timestamptz, network_prompt_times.prompted_at),
           GREATEST(cardinality(network_prompt_times.prompted_at) - 9, 0))
         WHERE network_prompt_times.prompted_at[10] IS NULL OR network_prompt_times.prompted_at[10] <= $3`,
  values: (prompt) => [prompt.number, prompt.now, prompt.since],
});

/** Only the charge's own prompt: another charge may have opened one since. */
export const closePrompt = runBy<[prompt: { number: string; network: string; chargeId: string; now: Date }]>({
  name: 'network_prompts_close',
  text: `UPDATE network_prompts SET open_until = $4
         WHERE number = $1 AND network = $2 AND charge_id = $3 AND open_until > $4`,
  values: (prompt) => [prompt.number, prompt.network, prompt.chargeId, prompt.now],
});

/** Prompts that ended before then. */
export const deleteOldPrompts = runBy<[before: Date]>({
  name: 'network_prompts_delete_old',
  text: 'DELETE FROM network_prompts WHERE open_until < $1',
});

/** Numbers whose last prompt was before then. */
export const deleteOldPromptTimes = runBy<[before: Date]>({
  name: 'network_prompt_times_delete_old',
  text: 'DELETE FROM network_prompt_times WHERE prompted_at[1] < $1',
});

const breakerColumns = `network, test_mode AS "testMode", rail_account AS "railAccount", scope, state, reason,
                  opened_at AS "openedAt", retry_at AS "retryAt", failed_trials AS "failedTrials",
                  failures_in_a_row AS "failuresInARow", failed_merchants AS "failedMerchants", version`;

/** Breakers that are open or have counted failures: live ones first, then those of whole networks, then the latest. */
export const listBreakers = rowsBy<CircuitBreaker, [rowsMax: bigint]>({
  name: 'circuit_breakers_list',
  text: `SELECT ${breakerColumns} FROM circuit_breakers
         WHERE state <> 'closed' OR failures_in_a_row > 0
         ORDER BY test_mode, scope <> '', updated_at DESC LIMIT $1`,
});

export const findBreaker = rowBy<CircuitBreaker, [key: BreakerKey]>({
  name: 'circuit_breakers_find',
  text: `SELECT ${breakerColumns} FROM circuit_breakers
         WHERE network = $1 AND test_mode = $2 AND rail_account = $3 AND scope = $4`,
  values: (key) => [key.network, key.testMode, key.railAccount, key.scope],
});

/** Writes no row if another writer was first. */
export function insertBreakerOnce(db: Queryable, breaker: CircuitBreaker, now: Date): Promise<number> {
  return db.run({
    name: 'circuit_breakers_insert_once',
    text: `INSERT INTO circuit_breakers (network, test_mode, rail_account, scope, state, reason, opened_at, retry_at,
             failed_trials, failures_in_a_row, failed_merchants, version, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 + 1, $13)
           ON CONFLICT (network, test_mode, rail_account, scope) DO NOTHING`,
    values: breakerValues(breaker, now),
  });
}

/** Writes no row if the breaker has changed since it was read: of several trials at once, one is sent. */
export function updateBreaker(db: Queryable, breaker: CircuitBreaker, now: Date): Promise<number> {
  return db.run({
    name: 'circuit_breakers_update',
    text: `UPDATE circuit_breakers SET state = $5, reason = $6, opened_at = $7, retry_at = $8, failed_trials = $9,
             failures_in_a_row = $10, failed_merchants = $11, version = $12 + 1, updated_at = $13
           WHERE network = $1 AND test_mode = $2 AND rail_account = $3 AND scope = $4 AND version = $12`,
    values: breakerValues(breaker, now),
  });
}

/** Those without a write since `before` whose next trial was due by then. */
export const deleteUnusedBreakers = runBy<[before: Date]>({
  name: 'circuit_breakers_delete_forgotten',
  text: `DELETE FROM circuit_breakers WHERE updated_at < $1 AND (retry_at IS NULL OR retry_at < $1)`,
});

function breakerValues(breaker: CircuitBreaker, now: Date): unknown[] {
  return [
    breaker.network,
    breaker.testMode,
    breaker.railAccount,
    breaker.scope,
    breaker.state,
    breaker.reason,
    breaker.openedAt,
    breaker.retryAt,
    breaker.failedTrials,
    breaker.failuresInARow,
    breaker.failedMerchants,
    breaker.version,
    now,
  ];
}
