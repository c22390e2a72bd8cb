import type { Statement } from '../server/src/kit/db.ts';
import { rowBy, rowsBy, statementBy, valueBy } from '../server/src/kit/run-statement.ts';
import { rowByLast, statementForMany } from '../server/src/kit/many-rows.ts';
import { placeholders } from '../server/src/kit/placeholders.ts';
import type { RecordKey, ReferenceKey, TransactionKey } from './record-id.ts';
import type { Session } from './session.ts';

const sessionColumns = `account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  ended_at AS "endedAt", reversed_at AS "reversedAt", created_at AS "createdAt", expires_at AS "expiresAt"`;

/** Inserts nothing if the account already has a session with this reference: concurrent starts create one. */
export function insertSession(session: Session): Statement {
  return statementForMany({
    name: 'simulator_session_insert',
    text: (
      rows,
    ) => `INSERT INTO simulator.sessions (account, id, network, reference, fingerprint, shape, status, failure_code,
             planned_status, planned_at, visible_at, amount, amount_paid, currency, payer_number,
             payer_number_as_sent, description, return_url, callback_url, code, code_attempts_left, transaction_id,
             approved_at, ended_at, reversed_at, created_at, expires_at)
           VALUES ${rows} ON CONFLICT (account, network, reference) DO NOTHING RETURNING id`,
    parameters: placeholders(1, 27),
    values: [
      session.account,
      session.id,
      session.network,
      session.reference,
      session.fingerprint,
      session.shape,
      session.status,
      session.failureCode,
      session.plannedStatus,
      session.plannedAt,
      session.visibleAt,
      session.amountMinor,
      session.amountPaidMinor,
      session.currency,
      session.payerNumber,
      session.payerNumberAsSent,
      session.description,
      session.returnUrl,
      session.callbackUrl,
      session.code,
      session.codeAttemptsLeft,
      session.transactionId,
      session.approvedAt,
      session.endedAt,
      session.reversedAt,
      session.createdAt,
      session.expiresAt,
    ],
    sharedValues: 0,
    ...{ column: 'id', key: session.id },
  });
}

export const findSessionById = rowBy<Session, [key: RecordKey]>({
  name: 'simulator_session_find',
  text: `SELECT ${sessionColumns} FROM simulator.sessions WHERE account = $1 AND id = $2`,
  values: (key) => [key.account, key.id],
});

/** Locks the row until the transaction ends: transitions of one session happen one after another. */
export const lockSession = rowBy<Session, [key: RecordKey]>({
  name: 'simulator_session_lock',
  text: `SELECT ${sessionColumns} FROM simulator.sessions WHERE account = $1 AND id = $2 FOR UPDATE`,
  values: (key) => [key.account, key.id],
});

export const findSessionByTransaction = rowByLast<Session, [key: TransactionKey]>({
  name: 'simulator_session_find_by_transaction',
  column: 'transactionId',
  text: (ids) => `SELECT ${sessionColumns} FROM simulator.sessions
         WHERE account = $1 AND network = $2 AND transaction_id IN (${ids})`,
  values: (key) => [key.account, key.network, key.transactionId],
});

/** The same by the network's own transaction id: refunds of one collection happen one after another. */
export const lockSessionByTransaction = rowBy<Session, [key: TransactionKey]>({
  name: 'simulator_session_lock_by_transaction',
  text: `SELECT ${sessionColumns} FROM simulator.sessions
         WHERE account = $1 AND network = $2 AND transaction_id = $3 FOR UPDATE`,
  values: (key) => [key.account, key.network, key.transactionId],
});

export const findSessionByReference = rowByLast<Session, [key: ReferenceKey]>({
  name: 'simulator_session_find_by_reference',
  column: 'reference',
  text: (references) => `SELECT ${sessionColumns} FROM simulator.sessions
         WHERE account = $1 AND network = $2 AND reference IN (${references})`,
  values: (key) => [key.account, key.network, key.reference],
});

/** Newest first, of all accounts or of one. */
export const listSessionsByNumber = rowsBy<
  Session,
  [query: { payerNumber: string; account: string | null; rowsMax: number }]
>({
  name: 'simulator_session_list_by_number',
  text: `SELECT ${sessionColumns} FROM simulator.sessions
         WHERE payer_number = $1 AND ($2::text IS NULL OR account = $2)
         ORDER BY created_at DESC, id DESC LIMIT $3`,
  values: (query) => [query.payerNumber, query.account, query.rowsMax],
});

/** Writes the fields that a transition changes; the caller holds the lock on the row. */
export const updateSession = statementBy<[session: Session]>({
  name: 'simulator_session_update',
  text: `UPDATE simulator.sessions SET status = $3, failure_code = $4, planned_status = $5, planned_at = $6,
           code_attempts_left = $7, approved_at = $8, ended_at = $9, reversed_at = $10
         WHERE account = $1 AND id = $2`,
  values: (session) => [
    session.account,
    session.id,
    session.status,
    session.failureCode,
    session.plannedStatus,
    session.plannedAt,
    session.codeAttemptsLeft,
    session.approvedAt,
    session.endedAt,
    session.reversedAt,
  ],
});

/** A callback to be sent. */
export interface Callback {
  account: string;
  /** The session or payout that it reports. */
  subjectId: string;
  id: string;
  network: string;
  /** The wire that renders its headers. */
  wire: string;
  method: 'POST' | 'PUT';
  url: string;
  body: string;
  occursAt: Date;
  dueAt: Date;
}

export function insertCallback(callback: Callback): Statement {
  return {
    name: 'simulator_callback_insert',
    text: `INSERT INTO simulator.callbacks (account, subject_id, id, url, network, wire, method, body, occurs_at,
             due_at, attempts)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)`,
    values: [
      callback.account,
      callback.subjectId,
      callback.id,
      callback.url,
      callback.network,
      callback.wire,
      callback.method,
      callback.body,
      callback.occursAt,
      callback.dueAt,
    ],
    rowKey: callback.id,
  };
}

/** Deletes the callbacks of planned changes that will no longer happen. */
export const deleteFutureCallbacks = statementBy<[session: RecordKey, now: Date]>({
  name: 'simulator_callback_delete_to_come',
  text: 'DELETE FROM simulator.callbacks WHERE account = $1 AND subject_id = $2 AND occurs_at > $3',
  values: (session, now) => [session.account, session.id, now],
});

/** A callback that this process may send until its lease ends. */
export interface ClaimedCallback extends Callback {
  /** Counts the claims, this one included. */
  attempts: bigint;
}

/** The longest due first. Rows that another process is claiming are skipped. */
export const claimDueCallbacks = rowsBy<ClaimedCallback, [claim: { now: Date; leaseEndsAt: Date; rowsMax: number }]>({
  name: 'simulator_callback_claim',
  text: `WITH due AS (
           SELECT account, subject_id, id, due_at FROM simulator.callbacks
           WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         )
         UPDATE simulator.callbacks AS callbacks SET due_at = $2, attempts = callbacks.attempts + 1
         FROM due
         WHERE callbacks.account = due.account AND callbacks.subject_id = due.subject_id AND callbacks.id = due.id
         RETURNING callbacks.account, callbacks.subject_id AS "subjectId", callbacks.id, callbacks.url,
           callbacks.network, callbacks.wire, callbacks.method, callbacks.body, callbacks.occurs_at AS "occursAt", due.due_at AS "dueAt",
           callbacks.attempts`,
  values: (claim) => [claim.now, claim.leaseEndsAt, claim.rowsMax],
});

/** Writes nothing if another process has claimed the callback since. */
export const deleteCallback = statementBy<[callback: ClaimedCallback]>({
  name: 'simulator_callback_delete',
  text: 'DELETE FROM simulator.callbacks WHERE account = $1 AND subject_id = $2 AND id = $3 AND attempts = $4',
  values: (callback) => [callback.account, callback.subjectId, callback.id, callback.attempts],
});

/** Writes nothing if another process has claimed the callback since. */
export const postponeCallback = statementBy<[callback: ClaimedCallback, dueAt: Date]>({
  name: 'simulator_callback_postpone',
  text: `UPDATE simulator.callbacks SET due_at = $5
         WHERE account = $1 AND subject_id = $2 AND id = $3 AND attempts = $4`,
  values: (callback, dueAt) => [callback.account, callback.subjectId, callback.id, callback.attempts, dueAt],
});

/** When the next callback is due, or the next lease ends. */
export const findNextCallbackTime = valueBy<Date | null, []>({
  name: 'simulator_callback_next',
  text: 'SELECT due_at AS value FROM simulator.callbacks ORDER BY due_at LIMIT 1',
  none: null,
});

/** One network for one account and one number. */
export interface OutageKey {
  account: string;
  network: string;
  payerNumber: string;
}

export interface Outage {
  endsAt: Date | null;
}

export const findOutage = rowBy<Outage, [key: OutageKey]>({
  name: 'simulator_outage_find',
  text: `SELECT ends_at AS "endsAt" FROM simulator.outages
         WHERE account = $1 AND network = $2 AND payer_number = $3`,
  values: (key) => [key.account, key.network, key.payerNumber],
  emptyForAll: true,
});

/** A second outage of the same key replaces the first. */
export const upsertOutage = statementBy<[key: OutageKey, outage: { beganAt: Date; endsAt: Date | null }]>({
  name: 'simulator_outage_upsert',
  text: `INSERT INTO simulator.outages (account, network, payer_number, began_at, ends_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account, network, payer_number)
         DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at`,
  values: (key, outage) => [key.account, key.network, key.payerNumber, outage.beganAt, outage.endsAt],
});

export const deleteOutage = statementBy<[key: OutageKey]>({
  name: 'simulator_outage_delete',
  text: 'DELETE FROM simulator.outages WHERE account = $1 AND network = $2 AND payer_number = $3',
  values: (key) => [key.account, key.network, key.payerNumber],
});
