import type { Statement } from '../../server/src/kit/db.ts';
import { rowBy, rowsBy, statementBy } from '../../server/src/kit/run-statement.ts';
import { rowByLast, statementForMany } from '../../server/src/kit/many-rows.ts';
import { placeholders } from '../../server/src/kit/placeholders.ts';
import type { RecordKey, ReferenceKey, TransactionKey } from '../record-id.ts';
import type { Payout } from './payout.ts';
import type { StoredBatch } from './payout-batch.ts';

const payoutColumns = `account, id, network, reference, fingerprint, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  currency, beneficiary_number AS "beneficiaryNumber", beneficiary_number_as_sent AS "beneficiaryNumberAsSent",
  beneficiary_name AS "beneficiaryName", description, callback_url AS "callbackUrl",
  transaction_id AS "transactionId", refunded_transaction_id AS "refundedTransactionId", client_reference AS "clientReference",
  created_at AS "createdAt"`;

/** Inserts nothing if the account already has a payout with this reference: concurrent requests pay once. */
export function insertPayout(payout: Payout): Statement {
  return statementForMany({
    name: 'simulator_payout_insert',
    text: (rows) => `INSERT INTO simulator.payouts (account, id, network, reference, fingerprint, status, failure_code,
             planned_status, planned_at, visible_at, amount, currency, beneficiary_number,
             beneficiary_number_as_sent, beneficiary_name, description, callback_url, transaction_id,
             refunded_transaction_id, client_reference, created_at)
           VALUES ${rows} ON CONFLICT (account, network, reference) DO NOTHING RETURNING id`,
    parameters: placeholders(1, 21),
    values: [
      payout.account,
      payout.id,
      payout.network,
      payout.reference,
      payout.fingerprint,
      payout.status,
      payout.failureCode,
      payout.plannedStatus,
      payout.plannedAt,
      payout.visibleAt,
      payout.amountMinor,
      payout.currency,
      payout.beneficiaryNumber,
      payout.beneficiaryNumberAsSent,
      payout.beneficiaryName,
      payout.description,
      payout.callbackUrl,
      payout.transactionId,
      payout.refundedTransactionId,
      payout.clientReference,
      payout.createdAt,
    ],
    sharedValues: 0,
    ...{ column: 'id', key: payout.id },
  });
}

export const findPayoutById = rowBy<Payout, [key: RecordKey]>({
  name: 'simulator_payout_find',
  text: `SELECT ${payoutColumns} FROM simulator.payouts WHERE account = $1 AND id = $2`,
  values: (key) => [key.account, key.id],
});

export const findPayoutByReference = rowByLast<Payout, [key: ReferenceKey]>({
  name: 'simulator_payout_find_by_reference',
  column: 'reference',
  text: (list) => `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE account = $1 AND network = $2 AND reference IN (${list})`,
  values: (key) => [key.account, key.network, key.reference],
});

/** What a client finds by its own reference, the oldest first: a payout of a batch can have that of another one. */
export const listPayoutsByClientReference = rowsBy<Payout, [key: ReferenceKey]>({
  name: 'simulator_payout_list_by_client_reference',
  text: `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE account = $1 AND network = $2 AND refunded_transaction_id IS NULL
           AND (client_reference = $3 OR (reference = $3 AND client_reference IS NULL))
         ORDER BY created_at, id`,
  values: (key) => [key.account, key.network, key.reference],
});

export const listPayoutsByReferences = rowsBy<
  Payout,
  [{ account: string; network: string; references: readonly string[] }]
>({
  name: 'simulator_payout_list_by_references',
  text: `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE account = $1 AND network = $2 AND reference = ANY ($3::text[])`,
  values: ({ account, network, references }) => [account, network, references],
});

const batchColumns = `account, id, network, reference, fingerprint, payout_count AS "payoutCount", created_at AS "createdAt"`;

/** Inserts nothing if the account already has a batch with this reference. */
export const insertBatchOnce = statementBy<[batch: StoredBatch]>({
  name: 'simulator_batch_insert',
  text: `INSERT INTO simulator.payout_batches (account, id, network, reference, fingerprint, payout_count, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (account, network, reference) DO NOTHING`,
  values: (batch) => [
    batch.account,
    batch.id,
    batch.network,
    batch.reference,
    batch.fingerprint,
    batch.payoutCount,
    batch.createdAt,
  ],
});

export const findBatchById = rowBy<StoredBatch, [key: RecordKey]>({
  name: 'simulator_batch_find',
  text: `SELECT ${batchColumns} FROM simulator.payout_batches WHERE account = $1 AND id = $2`,
  values: (key) => [key.account, key.id],
});

export const findBatchByReference = rowBy<StoredBatch, [key: ReferenceKey]>({
  name: 'simulator_batch_find_by_reference',
  text: `SELECT ${batchColumns} FROM simulator.payout_batches WHERE account = $1 AND network = $2 AND reference = $3`,
  values: (key) => [key.account, key.network, key.reference],
});

export const findPayoutByTransaction = rowByLast<Payout, [key: TransactionKey]>({
  name: 'simulator_payout_find_by_transaction',
  column: 'transactionId',
  text: (list) => `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE account = $1 AND network = $2 AND transaction_id IN (${list})`,
  values: (key) => [key.account, key.network, key.transactionId],
});

/** Payouts that have succeeded or will, newest first, of all accounts or of one. */
export const listPayoutsByNumber = rowsBy<
  Payout,
  [query: { beneficiaryNumber: string; account: string | null; rowsMax: number }]
>({
  name: 'simulator_payout_list_by_number',
  text: `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
           AND (status = 'completed' OR planned_status = 'completed')
         ORDER BY created_at DESC, id DESC LIMIT $3`,
  values: (query) => [query.beneficiaryNumber, query.account, query.rowsMax],
});

/** All refunds of one collection. A caller that adds one holds the lock on the collection's row. */
export const listRefundsByTransaction = rowsBy<Payout, [key: TransactionKey]>({
  name: 'simulator_payout_list_refunds',
  text: `SELECT ${payoutColumns} FROM simulator.payouts
         WHERE account = $1 AND network = $2 AND refunded_transaction_id = $3`,
  values: (key) => [key.account, key.network, key.transactionId],
});

/** Payouts of one account to one number at one network. */
export interface PayoutLine {
  account: string;
  network: string;
  beneficiaryNumber: string;
}

export interface PayoutOutage {
  endsAt: Date | null;
}

export const findPayoutOutage = rowBy<PayoutOutage, [line: PayoutLine]>({
  name: 'simulator_payout_outage_find',
  text: `SELECT ends_at AS "endsAt" FROM simulator.payout_outages
         WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
  values: (line) => [line.account, line.network, line.beneficiaryNumber],
  emptyForAll: true,
});

/** A second outage of the same line replaces the first. */
export const upsertPayoutOutage = statementBy<[line: PayoutLine, outage: { beganAt: Date; endsAt: Date | null }]>({
  name: 'simulator_payout_outage_upsert',
  text: `INSERT INTO simulator.payout_outages (account, network, beneficiary_number, began_at, ends_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account, network, beneficiary_number)
         DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at`,
  values: (line, outage) => [line.account, line.network, line.beneficiaryNumber, outage.beganAt, outage.endsAt],
});

export const deletePayoutOutage = statementBy<[line: PayoutLine]>({
  name: 'simulator_payout_outage_delete',
  text: `DELETE FROM simulator.payout_outages
         WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
  values: (line) => [line.account, line.network, line.beneficiaryNumber],
});

export type FloatState = 'empty' | 'filled';

/** The float for one line. */
export interface Float extends PayoutLine {
  state: FloatState;
  changedAt: Date;
}

const floatColumns = 'account, network, beneficiary_number AS "beneficiaryNumber", state, changed_at AS "changedAt"';

export const findFloat = rowBy<Float, [line: PayoutLine]>({
  name: 'simulator_float_find',
  text: `SELECT ${floatColumns} FROM simulator.floats
         WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
  values: (line) => [line.account, line.network, line.beneficiaryNumber],
  emptyForAll: true,
});

/** Of all accounts or of one, the last change first. */
export const listFloatsByNumber = rowsBy<
  Float,
  [query: { beneficiaryNumber: string; account: string | null; rowsMax: number }]
>({
  name: 'simulator_float_list_by_number',
  text: `SELECT ${floatColumns} FROM simulator.floats
         WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
         ORDER BY changed_at DESC, account, network LIMIT $3`,
  values: (query) => [query.beneficiaryNumber, query.account, query.rowsMax],
});

/** Records an empty float. A float that is filled concurrently stays filled. */
export const insertEmptyFloat = statementBy<[line: PayoutLine, changedAt: Date]>({
  name: 'simulator_float_insert_empty',
  text: `INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
         VALUES ($1, $2, $3, 'empty', $4)
         ON CONFLICT (account, network, beneficiary_number) DO NOTHING`,
  values: (line, changedAt) => [line.account, line.network, line.beneficiaryNumber, changedAt],
});

/** Fills or empties a float; writes nothing if it has the state already. */
export const upsertFloat = statementBy<[line: PayoutLine, change: { state: FloatState; changedAt: Date }]>({
  name: 'simulator_float_upsert',
  text: `INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account, network, beneficiary_number)
         DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
         WHERE floats.state <> excluded.state`,
  values: (line, change) => [line.account, line.network, line.beneficiaryNumber, change.state, change.changedAt],
});
