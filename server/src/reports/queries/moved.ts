import type { Queryable } from '../../kit/db.ts';
import type { Figures } from '../figures.ts';

// What of a movement belongs to a figure (docs/ledger.md, "Flows"). `out` is a refund or another transfer, by its record.
const isCollected = `(flow = 'collected' AND debit_account LIKE 'float:%')`;
const isAccepted = `(flow IN ('accepted', 'share_accepted') AND debit_account = 'suspense')`;
const isReversed = `(flow = 'reversed' AND credit_account LIKE 'float:%' AND debit_account <> 'suspense')`;
const isDirect = `(flow = 'received_directly' AND credit_account = 'received_directly')`;
const isDirectBack = `(debit_account = 'received_directly')`;
const isOut = `(flow IN ('transfer', 'transfer_mismatch', 'late_success')
                AND credit_account LIKE 'float:%' AND debit_account <> 'network_costs')`;
const isReturned = `(flow IN ('transfer_reversed', 'late_success_reversed', 'mismatch_returned')
                     AND debit_account LIKE 'float:%' AND credit_account <> 'network_costs')`;

const isFees = `(credit_account = 'fees' OR debit_account = 'fees')`;

/** A figure of money by its movements. */
export type MoneyFigure =
  | 'collected'
  | 'direct'
  | 'direct_back'
  | 'reversed'
  | 'paid_out'
  | 'refunded'
  | 'returned'
  | 'fees';

/** What of a record moved for a figure: other movements of that day may come long before or after. */
export const isOfFigure: Record<MoneyFigure, string> = {
  collected: `(${isCollected} OR ${isAccepted})`,
  direct: isDirect,
  direct_back: isDirectBack,
  reversed: isReversed,
  paid_out: isOut,
  refunded: isOut,
  returned: isReturned,
  fees: isFees,
};

/**
 * What moved by slot and record; `ended_at` is of the last movement like this. The range of ids lets the planner walk the primary key: a movement's id is made right after its
 * time is read, so it is never smaller, and rarely more than moments later.
 */
export const movedBySource = (slot: string, isLike = 'true') => `
  SELECT ${slot} AS slot, source_type, source_id, min(created_at) AS began_at,
    max(created_at) FILTER (WHERE ${isLike}) AS ended_at,
    COALESCE(sum(amount) FILTER (WHERE ${isCollected} OR ${isAccepted}), 0) AS collected,
    COALESCE(bool_or(${isCollected}), false) AS is_collected,
    COALESCE(sum(amount) FILTER (WHERE ${isDirect}), 0) AS direct,
    COALESCE(sum(amount) FILTER (WHERE ${isDirectBack}), 0) AS direct_back,
    COALESCE(sum(amount) FILTER (WHERE ${isReversed}), 0) AS reversed,
    COALESCE(sum(amount) FILTER (WHERE ${isOut}), 0) AS paid,
    COALESCE(sum(amount) FILTER (WHERE ${isReturned}), 0) AS returned,
    COALESCE(sum(amount) FILTER (WHERE credit_account = 'fees'), 0)
      - COALESCE(sum(amount) FILTER (WHERE debit_account = 'fees'), 0) AS fees
  FROM ledger_movements
  WHERE merchant_id = $1 AND currency = $2 AND id >= $3 AND id < $4 AND created_at >= $5 AND created_at < $6
  GROUP BY 1, 2, 3`;

// Looked up one by one: a plan for any range takes it for long, and would read whole tables to join a day.
export const recordsOfMoved = `
  LEFT JOIN LATERAL (
    SELECT network, intent_id, transaction_reference FROM charges
    WHERE merchant_id = $1 AND id = moved.source_id AND moved.source_type = 'charge' LIMIT 1
  ) AS charge ON true
  LEFT JOIN LATERAL (
    SELECT terminal_id, payment_link_id, title FROM payment_intents
    WHERE merchant_id = $1 AND id = charge.intent_id LIMIT 1
  ) AS intent ON true
  LEFT JOIN LATERAL (
    SELECT kind, network, reference, beneficiary_name FROM transfers
    WHERE merchant_id = $1 AND id = moved.source_id AND moved.source_type = 'transfer' LIMIT 1
  ) AS transfer ON true`;

/** A range of time with the ids of everything that was made in it. */
export interface Range {
  merchantId: string;
  currency: string;
  from: Date;
  /** Excluded. */
  to: Date;
  firstId: string;
  /** Excluded. */
  endId: string;
}

/** One slot, through one network, at one counter and link. */
export interface SlotKeys {
  slot: Date;
  network: string;
  terminalId: string | null;
  paymentLinkId: string | null;
}

/** What moved there. */
export type MovedRow = Omit<Figures, 'unpaidCount'> & SlotKeys;

/** By network, counter and link, as movements and records are now. */
export function listMoved(db: Queryable, unit: 'hour' | 'day', range: Range): Promise<MovedRow[]> {
  return db.rows<MovedRow>({
    name: `reports_moved_by_${unit}`,
    text: `WITH moved AS (${movedBySource(`date_trunc('${unit}', created_at, 'UTC')`)}), counted AS (
             SELECT moved.*, COALESCE(charge.network, transfer.network, '') AS network, transfer.kind,
               intent.terminal_id, intent.payment_link_id,
               collected > 0 AND (is_collected OR NOT EXISTS (
                 SELECT 1 FROM ledger_movements AS earlier
                 WHERE earlier.merchant_id = $1 AND earlier.source_id = moved.source_id
                   AND earlier.flow IN ('collected', 'accepted', 'share_accepted') AND earlier.created_at < moved.began_at
               )) AS is_new
             FROM moved ${recordsOfMoved}
           )
           SELECT slot, network, terminal_id AS "terminalId", payment_link_id AS "paymentLinkId",
             sum(collected)::bigint AS "collectedMinor", count(*) FILTER (WHERE is_new) AS "collectedCount",
             sum(direct)::bigint AS "directMinor", count(*) FILTER (WHERE direct > 0) AS "directCount",
             sum(direct_back)::bigint AS "directBackMinor", sum(reversed)::bigint AS "reversedMinor",
             COALESCE(sum(paid) FILTER (WHERE kind <> 'refund'), 0)::bigint AS "paidOutMinor",
             count(*) FILTER (WHERE kind <> 'refund' AND paid > 0) AS "paidOutCount",
             COALESCE(sum(paid) FILTER (WHERE kind = 'refund'), 0)::bigint AS "refundedMinor",
             count(*) FILTER (WHERE kind = 'refund' AND paid > 0) AS "refundedCount",
             sum(returned)::bigint AS "returnedMinor", sum(fees)::bigint AS "feesMinor"
           FROM counted GROUP BY 1, 2, 3, 4`,
    values: rangeValues(range),
  });
}

export function rangeValues({ merchantId, currency, firstId, endId, from, to }: Range): unknown[] {
  return [merchantId, currency, firstId, endId, from, to];
}

/** Payments that ended unpaid after somebody had tried them, by the network of the last attempt. */
export interface UnpaidRow extends SlotKeys {
  count: bigint;
}

/** When a payment ended unpaid. It has `unpaid_at` unless the release before wrote it. */
export const unpaidAt = 'COALESCE(unpaid_at, updated_at)';

/** Money that comes later does not change it: the day on which a payment ended unpaid keeps its figure and its list. */
export const endedUnpaid = `attempts > 0 AND (
               (unpaid_at >= $4 AND unpaid_at < $5)
               OR (unpaid_at IS NULL AND status IN ('failed', 'cancelled', 'expired')
                   AND id >= $2 AND id < $3 AND updated_at >= $4 AND updated_at < $5))`;

/** The last attempt of each of `payment_intents`. */
export const lastAttempt = `LEFT JOIN LATERAL (
             SELECT network FROM charges
             WHERE merchant_id = $1 AND intent_id = payment_intents.id AND attempt = payment_intents.attempts LIMIT 1
           ) AS charge ON true`;

/** By the time they ended; `firstId` is from long enough before the range. */
export function listUnpaid(db: Queryable, unit: 'hour' | 'day', range: Range): Promise<UnpaidRow[]> {
  return db.rows<UnpaidRow>({
    name: `reports_unpaid_by_${unit}`,
    text: `SELECT date_trunc('${unit}', ${unpaidAt}, 'UTC') AS slot, COALESCE(charge.network, '') AS network,
             terminal_id AS "terminalId", payment_link_id AS "paymentLinkId", count(*) AS count
           FROM payment_intents ${lastAttempt}
           WHERE merchant_id = $1 AND ${endedUnpaid}
           GROUP BY 1, 2, 3, 4`,
    values: unpaidValues(range),
  });
}

export function unpaidValues({ merchantId, firstId, endId, from, to }: Range): unknown[] {
  return [merchantId, firstId, endId, from, to];
}
