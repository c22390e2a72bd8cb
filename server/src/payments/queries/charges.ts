import { finderOf } from '../../api/find-record.ts';
import type { Queryable, Statement } from '../../kit/db.ts';
import { idsBy, isFoundBy, rowsBy, runBy } from '../../kit/run-statement.ts';
import { rowByLast, rowOfId, statementForMany, typedRow } from '../../kit/many-rows.ts';
import { listOf, type ListSource } from '../../api/list-reader.ts';
import type { NetworkHandles, NextAction } from '../../networks/contract.ts';
import type { Charge, ChargeProgress, ChargeStatus } from '../charge.ts';
import { chargeFilters, type ChargeFilter } from './list-filters.ts';

export const chargeColumns = `charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network,
  rail_account AS "railAccount", received_directly AS "receivedDirectly", account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt"`;

/** The order that puts an intent's current attempt first. */
const currentFirst = `(status = 'pending' AND abandoned_at IS NULL) DESC, attempt DESC`;

export function insertCharge(charge: Charge): Statement {
  return {
    name: 'charges_insert',
    text: `INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid,
             currency, network, account_number, account_canonical, reference, transaction_reference, progress, late,
             amount_refunded, event_sequence, created_at, updated_at, rail_account, received_directly)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21, $22)`,
    values: [
      charge.merchantId,
      charge.id,
      charge.intentId,
      charge.attempt,
      charge.status,
      charge.amountMinor,
      charge.feeMinor,
      charge.feePayer,
      charge.amountPaidMinor,
      charge.currency,
      charge.network,
      charge.accountNumber,
      charge.accountCanonical,
      charge.reference,
      charge.transactionReference,
      charge.progress,
      charge.late,
      charge.amountRefundedMinor,
      charge.eventSequence,
      charge.createdAt,
      charge.railAccount,
      charge.receivedDirectly,
    ],
    rowKey: charge.id,
  };
}

export const findChargeById = rowByLast<Charge, [merchantId: string, id: string]>({
  name: 'charges_find_by_id',
  column: 'id',
  text: (ids) => `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND id IN (${ids})`,
  // As the database returns it.
  values: (merchantId, id) => [merchantId, id.toLowerCase()],
});

export const findChargeByReference = rowByLast<Charge, [merchantId: string, reference: string]>({
  name: 'charges_find_by_reference',
  column: 'reference',
  text: (references) => `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND reference IN (${references})`,
});

/** By the reference that merchants quote, unique among their charges. */
export const findChargeByTransactionReference = finderOf<Charge>({
  name: 'charges_find_by_transaction_reference',
  text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND transaction_reference = $2`,
});

/** Whether any of the charge was refunded, or is being refunded. The caller holds the payment's lock. */
export const hasRefund = isFoundBy<[merchantId: string, chargeId: string]>({
  name: 'charges_has_refund',
  text: `SELECT refunds.id FROM refunds
         JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
         WHERE refunds.merchant_id = $1 AND refunds.charge_id = $2 AND transfers.status IN ('pending', 'completed')
         LIMIT 1`,
});

/**
 * What its own network has refunded of the charge, or is refunding, in bututs; also what it refunded after that had failed. The caller
 * holds the payment's lock.
 */
export async function readRefundedByNetwork(
  db: Queryable,
  { merchantId, chargeId, known }: { merchantId: string; chargeId: string; known: readonly string[] },
): Promise<bigint> {
  const row = await db.row<{ sum: string }>({
    name: 'charges_refunded_by_network',
    text: `SELECT COALESCE(sum(transfers.amount - transfers.amount_reversed), 0)::text AS sum FROM refunds
           JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
           WHERE refunds.merchant_id = $1 AND refunds.charge_id = $2 AND transfers.route = 'network'
             AND (transfers.status IN ('pending', 'completed') OR transfers.review = 'late_success')
             AND transfers.id <> ALL ($3::uuid[])`,
    values: [merchantId, chargeId, known],
  });
  return BigInt(row?.sum ?? '0');
}

/** Every refund of the charge, in any status. */
export const listRefundIds = idsBy<[merchantId: string, chargeId: string]>({
  name: 'charges_list_refund_ids',
  text: 'SELECT id FROM refunds WHERE merchant_id = $1 AND charge_id = $2',
});

export const listChargesOfIntent = rowsBy<Charge, [merchantId: string, intentId: string]>({
  name: 'charges_list_of_intent',
  text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND intent_id = $2 ORDER BY attempt`,
});

/** Every attempt of these intents. */
export const listChargeIds = idsBy<[merchantId: string, intentIds: readonly string[]]>({
  name: 'charges_list_ids',
  text: 'SELECT id FROM charges WHERE merchant_id = $1 AND intent_id = ANY ($2::uuid[])',
  values: (merchantId, intentIds) => [merchantId, [...intentIds]],
});

/**
 * The attempt that an intent's record shows: one that paid, preferably one whose money is still there, of several the first;
 * else the current one.
 */
export const findRepresentativeCharge = finderOf<Charge>({
  name: 'charges_find_telling',
  text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND intent_id = $2
         ORDER BY status <> 'completed', paid_at NULLS LAST, ${currentFirst} LIMIT 1`,
});

/** The same for each of several intents that has an attempt. */
export const listRepresentativeCharges = rowsBy<Charge, [merchantId: string, intentIds: readonly string[]]>({
  name: 'charges_list_telling',
  text: `SELECT DISTINCT ON (intent_id) ${chargeColumns} FROM charges
         WHERE merchant_id = $1 AND intent_id = ANY ($2)
         ORDER BY intent_id, status <> 'completed', paid_at NULLS LAST, ${currentFirst}`,
});

/** Every attempt that paid one of these intents: several where people accepted a second payment. */
export const listPaidCharges = rowsBy<Charge, [merchantId: string, intentIds: readonly string[]]>({
  name: 'charges_list_paid',
  text: `SELECT ${chargeColumns} FROM charges
         WHERE merchant_id = $1 AND intent_id = ANY ($2::uuid[]) AND paid_at IS NOT NULL`,
  values: (merchantId, intentIds) => [merchantId, [...intentIds]],
});

/** The current attempt of an intent: the open one that the payer has not left, of which there is at most one; else the newest. */
export const findCurrentCharge = finderOf<Charge>({
  name: 'charges_find_current',
  text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND intent_id = $2
         ORDER BY ${currentFirst} LIMIT 1`,
});

/** Marks a pending charge as abandoned, or (null) as resumed. Updates no row where it is marked so already, or has ended. */
export const updateChargeAbandoned = runBy<[Pick<Charge, 'merchantId' | 'id' | 'abandonedAt' | 'updatedAt'>]>({
  name: 'charges_update_abandoned',
  text: `UPDATE charges SET abandoned_at = $3, updated_at = $4
         WHERE merchant_id = $1 AND id = $2 AND status = 'pending'
           AND (abandoned_at IS NULL) <> ($3::timestamptz IS NULL)`,
  values: ({ merchantId, id, abandonedAt, updatedAt }) => [merchantId, id, abandonedAt, updatedAt],
});

const outcomeTypes = [
  ...['uuid', 'text', 'text', 'text', 'json', 'text', 'text', 'text', 'text', 'text', 'boolean', 'bigint'],
  ...['timestamptz', 'timestamptz', 'bigint', 'timestamptz', 'bigint', 'text', 'text', 'bigint', 'bigint', 'bigint'],
  'timestamptz',
];

/** The charge as it ends or is under review, guarded by the status that it leaves. */
export function updateChargeOutcome(db: Queryable, expected: ChargeStatus, next: Charge): Promise<number> {
  return db.run(
    statementForMany({
      name: 'charges_update_outcome',
      text: (rows) => `UPDATE charges
           SET status = next.status, progress = next.progress, next_action = next.next_action,
               network_reference = next.network_reference, network_transaction_id = next.network_transaction_id,
               failure_code = next.failure_code, failure_reason = next.failure_reason, review = next.review,
               late = next.late, event_sequence = next.event_sequence, paid_at = next.paid_at,
               updated_at = next.updated_at, amount_received = next.amount_received, settles_at = next.settles_at,
               amount_refunded = next.amount_refunded, account_number = next.account_number,
               account_canonical = next.account_canonical, amount_reversed = next.amount_reversed,
               reserve_percent_hundredths = next.reserve_percent_hundredths, debt_repaid = next.debt_repaid,
               settled_at = next.settled_at
           FROM (VALUES ${rows}) AS next (id, expected, status, progress, next_action, network_reference,
             network_transaction_id, failure_code, failure_reason, review, late, event_sequence, paid_at, updated_at,
             amount_received, settles_at, amount_refunded, account_number, account_canonical, amount_reversed,
             reserve_percent_hundredths, debt_repaid, settled_at)
           WHERE charges.merchant_id = $1 AND charges.id = next.id AND charges.status = next.expected
           RETURNING charges.id`,
      parameters: typedRow(2, outcomeTypes),
      values: [
        next.merchantId,
        next.id,
        expected,
        next.status,
        next.progress,
        jsonOrNull(next.nextAction),
        next.networkReference,
        next.networkTransactionId,
        next.failureCode,
        next.failureReason,
        next.review,
        next.late,
        next.eventSequence,
        next.paidAt,
        next.updatedAt,
        next.amountReceivedMinor,
        next.settlesAt,
        next.amountRefundedMinor,
        next.accountNumber,
        next.accountCanonical,
        next.amountReversedMinor,
        next.reservePercentHundredths,
        next.debtRepaidMinor,
        next.settledAt,
      ],
      sharedValues: 1,
      ...rowOfId(next.id),
    }),
  );
}

/** A pending charge's progress; a late response to an early call never overwrites the end. */
export function updateChargeProgress(
  db: Queryable,
  expected: readonly ChargeProgress[],
  next: {
    merchantId: string;
    id: string;
    progress: ChargeProgress;
    nextAction: NextAction | null;
    networkReference: string | null;
    handles: NetworkHandles | null;
    updatedAt: Date;
  },
): Promise<number> {
  return db.run(
    statementForMany({
      name: 'charges_update_progress',
      text: (rows) => `UPDATE charges
           SET progress = next.progress, next_action = next.next_action,
               network_reference = COALESCE(next.network_reference, charges.network_reference),
               network_handles = COALESCE(next.network_handles, charges.network_handles), updated_at = next.updated_at
           FROM (VALUES ${rows}) AS next (id, expected, progress, next_action, network_reference, network_handles, updated_at)
           WHERE charges.merchant_id = $1 AND charges.id = next.id AND charges.status = 'pending'
             AND charges.progress = ANY (next.expected)
           RETURNING charges.id`,
      parameters: typedRow(2, ['uuid', 'text[]', 'text', 'json', 'text', 'json', 'timestamptz']),
      values: [
        next.merchantId,
        next.id,
        [...expected],
        next.progress,
        jsonOrNull(next.nextAction),
        next.networkReference,
        jsonOrNull(next.handles),
        next.updatedAt,
      ],
      sharedValues: 1,
      ...rowOfId(next.id),
    }),
  );
}

const chargeList: ListSource<Charge> = {
  name: 'charges',
  select: `SELECT ${chargeColumns} FROM charges WHERE charges.merchant_id = $1`,
  idColumn: 'charges.id',
  onlyGrows: true,
};

/** Newest first. */
export const listCharges = listOf(chargeList, (filter: ChargeFilter) => ({
  filters: chargeFilters(filter),
  isSearch: filter.term !== undefined,
}));

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
