import type { Queryable, Statement } from '../../server/src/kit/db.ts';
import { statementByLast, statementForMany } from '../../server/src/kit/many-rows.ts';
import { placeholders } from '../../server/src/kit/placeholders.ts';
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

export function findPayoutById(db: Queryable, key: { account: string; id: string }): Promise<Payout | undefined> {
  return db.row<Payout>({
    name: 'simulator_payout_find',
    text: `SELECT ${payoutColumns} FROM simulator.payouts WHERE account = $1 AND id = $2`,
    values: [key.account, key.id],
  });
}

export function findPayoutByReference(
  db: Queryable,
  key: { account: string; network: string; reference: string },
): Promise<Payout | undefined> {
  return db.row<Payout>(
    statementByLast({
      name: 'simulator_payout_find_by_reference',
      text: (list) => `SELECT ${payoutColumns} FROM simulator.payouts
             WHERE account = $1 AND network = $2 AND reference IN (${list})`,
      values: [key.account, key.network, key.reference],
      ...{ column: 'reference', key: key.reference },
    }),
  );
}

/** What a client finds by its own reference, the oldest first: a payout of a batch can have that of another one. */
export function listPayoutsByClientReference(
  db: Queryable,
  key: { account: string; network: string; reference: string },
): Promise<Payout[]> {
  return db.rows<Payout>({
    name: 'simulator_payout_list_by_client_reference',
    text: `SELECT ${payoutColumns} FROM simulator.payouts
           WHERE account = $1 AND network = $2 AND refunded_transaction_id IS NULL
             AND (client_reference = $3 OR (reference = $3 AND client_reference IS NULL))
           ORDER BY created_at, id`,
    values: [key.account, key.network, key.reference],
  });
}

export function listPayoutsByReferences(
  db: Queryable,
  { account, network, references }: { account: string; network: string; references: readonly string[] },
): Promise<Payout[]> {
  return db.rows<Payout>({
    name: 'simulator_payout_list_by_references',
    text: `SELECT ${payoutColumns} FROM simulator.payouts
           WHERE account = $1 AND network = $2 AND reference = ANY ($3::text[])`,
    values: [account, network, references],
  });
}

const batchColumns = `account, id, network, reference, fingerprint, payout_count AS "payoutCount", created_at AS "createdAt"`;

/** Inserts nothing if the account already has a batch with this reference. */
export function insertBatchOnce(batch: StoredBatch): Statement {
  return {
    name: 'simulator_batch_insert',
    text: `INSERT INTO simulator.payout_batches (account, id, network, reference, fingerprint, payout_count, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (account, network, reference) DO NOTHING`,
    values: [
      batch.account,
      batch.id,
      batch.network,
      batch.reference,
      batch.fingerprint,
      batch.payoutCount,
      batch.createdAt,
    ],
  };
}

export function findBatchById(db: Queryable, key: { account: string; id: string }): Promise<StoredBatch | undefined> {
  return db.row<StoredBatch>({
    name: 'simulator_batch_find',
    text: `SELECT ${batchColumns} FROM simulator.payout_batches WHERE account = $1 AND id = $2`,
    values: [key.account, key.id],
  });
}

export function findBatchByReference(
  db: Queryable,
  key: { account: string; network: string; reference: string },
): Promise<StoredBatch | undefined> {
  return db.row<StoredBatch>({
    name: 'simulator_batch_find_by_reference',
    text: `SELECT ${batchColumns} FROM simulator.payout_batches WHERE account = $1 AND network = $2 AND reference = $3`,
    values: [key.account, key.network, key.reference],
  });
}

export function findPayoutByTransaction(
  db: Queryable,
  key: { account: string; network: string; transactionId: string },
): Promise<Payout | undefined> {
  return db.row<Payout>(
    statementByLast({
      name: 'simulator_payout_find_by_transaction',
      text: (list) => `SELECT ${payoutColumns} FROM simulator.payouts
             WHERE account = $1 AND network = $2 AND transaction_id IN (${list})`,
      values: [key.account, key.network, key.transactionId],
      ...{ column: 'transactionId', key: key.transactionId },
    }),
  );
}

/** Payouts that have succeeded or will, newest first, of all accounts or of one. */
export function listPayoutsByNumber(
  db: Queryable,
  query: { beneficiaryNumber: string; account: string | null; rowsMax: number },
): Promise<Payout[]> {
  return db.rows<Payout>({
    name: 'simulator_payout_list_by_number',
    text: `SELECT ${payoutColumns} FROM simulator.payouts
           WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
             AND (status = 'completed' OR planned_status = 'completed')
           ORDER BY created_at DESC, id DESC LIMIT $3`,
    values: [query.beneficiaryNumber, query.account, query.rowsMax],
  });
}

/** All refunds of one collection. A caller that adds one holds the lock on the collection's row. */
export function listRefundsByTransaction(
  db: Queryable,
  key: { account: string; network: string; transactionId: string },
): Promise<Payout[]> {
  return db.rows<Payout>({
    name: 'simulator_payout_list_refunds',
    text: `SELECT ${payoutColumns} FROM simulator.payouts
           WHERE account = $1 AND network = $2 AND refunded_transaction_id = $3`,
    values: [key.account, key.network, key.transactionId],
  });
}

/** Payouts of one account to one number at one network. */
export interface PayoutLine {
  account: string;
  network: string;
  beneficiaryNumber: string;
}

export interface PayoutOutage {
  endsAt: Date | null;
}

export function findPayoutOutage(db: Queryable, line: PayoutLine): Promise<PayoutOutage | undefined> {
  return db.row<PayoutOutage>({
    name: 'simulator_payout_outage_find',
    text: `SELECT ends_at AS "endsAt" FROM simulator.payout_outages
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
    values: [line.account, line.network, line.beneficiaryNumber],
    emptyForAll: true,
  });
}

/** A second outage of the same line replaces the first. */
export function upsertPayoutOutage(line: PayoutLine, outage: { beganAt: Date; endsAt: Date | null }): Statement {
  return {
    name: 'simulator_payout_outage_upsert',
    text: `INSERT INTO simulator.payout_outages (account, network, beneficiary_number, began_at, ends_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, network, beneficiary_number)
           DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at`,
    values: [line.account, line.network, line.beneficiaryNumber, outage.beganAt, outage.endsAt],
  };
}

export function deletePayoutOutage(line: PayoutLine): Statement {
  return {
    name: 'simulator_payout_outage_delete',
    text: `DELETE FROM simulator.payout_outages
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
    values: [line.account, line.network, line.beneficiaryNumber],
  };
}

export type FloatState = 'empty' | 'filled';

/** The float for one line. */
export interface Float extends PayoutLine {
  state: FloatState;
  changedAt: Date;
}

const floatColumns = 'account, network, beneficiary_number AS "beneficiaryNumber", state, changed_at AS "changedAt"';

export function findFloat(db: Queryable, line: PayoutLine): Promise<Float | undefined> {
  return db.row<Float>({
    name: 'simulator_float_find',
    text: `SELECT ${floatColumns} FROM simulator.floats
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3`,
    values: [line.account, line.network, line.beneficiaryNumber],
    emptyForAll: true,
  });
}

/** Of all accounts or of one, the last change first. */
export function listFloatsByNumber(
  db: Queryable,
  query: { beneficiaryNumber: string; account: string | null; rowsMax: number },
): Promise<Float[]> {
  return db.rows<Float>({
    name: 'simulator_float_list_by_number',
    text: `SELECT ${floatColumns} FROM simulator.floats
           WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
           ORDER BY changed_at DESC, account, network LIMIT $3`,
    values: [query.beneficiaryNumber, query.account, query.rowsMax],
  });
}

/** Records an empty float. A float that is filled concurrently stays filled. */
export function insertEmptyFloat(line: PayoutLine, changedAt: Date): Statement {
  return {
    name: 'simulator_float_insert_empty',
    text: `INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
           VALUES ($1, $2, $3, 'empty', $4)
           ON CONFLICT (account, network, beneficiary_number) DO NOTHING`,
    values: [line.account, line.network, line.beneficiaryNumber, changedAt],
  };
}

/** Fills or empties a float; writes nothing if it has the state already. */
export function upsertFloat(line: PayoutLine, change: { state: FloatState; changedAt: Date }): Statement {
  return {
    name: 'simulator_float_upsert',
    text: `INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, network, beneficiary_number)
           DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
           WHERE floats.state <> excluded.state`,
    values: [line.account, line.network, line.beneficiaryNumber, change.state, change.changedAt],
  };
}
