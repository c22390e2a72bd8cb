import type { Queryable } from '../../kit/db.ts';
import { idsBy, rowBy, rowsBy } from '../../kit/run-statement.ts';
import type { LineSubject } from '../statement-line.ts';

// What our own records and the ledger say; read across merchants, because one account serves all of them.

/** Who settled a transaction of the network. */
export interface TransactionOwner extends LineSubject {
  transactionId: string;
}

export const listTransactionOwners = rowsBy<TransactionOwner, [railAccount: string, transactionIds: readonly string[]]>(
  {
    name: 'reconciliation_transaction_owners',
    text: `-- across merchants: a transaction of the network may be any merchant's
         SELECT transaction_id AS "transactionId", merchant_id AS "merchantId", subject_id AS id,
                CASE kind WHEN 'collection' THEN 'charge' ELSE 'transfer' END AS type
         FROM provider_transactions WHERE rail_account = $1 AND transaction_id = ANY ($2::text[]) ORDER BY kind`,
  },
);

export interface ReferencedRecord extends LineSubject {
  reference: string;
}

/** The charges and transfers with these references of ours, which begin with the merchant's short id. */
export const listByReferences = rowsBy<ReferencedRecord, [railAccount: string, references: readonly string[]]>({
  name: 'reconciliation_by_references',
  text: `-- across merchants: a line may be any merchant's
         SELECT charges.reference, charges.merchant_id AS "merchantId", charges.id, 'charge' AS type
         FROM unnest($2::text[]) AS named (reference)
         JOIN merchants ON merchants.short_id = left(named.reference, 8)
         JOIN charges ON charges.merchant_id = merchants.id AND charges.reference = named.reference
         WHERE COALESCE(charges.rail_account, $1) = $1
         UNION ALL
         SELECT transfers.reference, transfers.merchant_id, transfers.id, 'transfer'
         FROM unnest($2::text[]) AS named (reference)
         JOIN merchants ON merchants.short_id = left(named.reference, 8)
         JOIN transfers ON transfers.merchant_id = merchants.id AND transfers.reference = named.reference
         WHERE COALESCE(transfers.rail_account, $1) = $1`,
});

/** A refund that was sent to the network. */
export interface SentRefund {
  merchantId: string;
  id: string;
  chargeId: string;
  network: string;
  status: string;
  /** Whether a transaction of the network has settled it. */
  isSettled: boolean;
  amountMinor: bigint;
  currency: string;
}

/** The refunds of these charges, the oldest first. */
export const listSentRefunds = rowsBy<SentRefund, [railAccount: string, charges: readonly LineSubject[]]>({
  name: 'reconciliation_sent_refunds',
  text: `-- across merchants: a line may be any merchant's
         SELECT refunds.merchant_id AS "merchantId", refunds.id, refunds.charge_id AS "chargeId", transfers.network, transfers.status,
                transfers.network_transaction_id IS NOT NULL AS "isSettled", refunds.amount AS "amountMinor", refunds.currency
         FROM unnest($2::uuid[], $3::uuid[]) AS named (merchant_id, id)
         JOIN refunds ON refunds.merchant_id = named.merchant_id AND refunds.charge_id = named.id
         JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
         WHERE COALESCE(transfers.rail_account, $1) = $1 AND transfers.route = 'network'
           AND transfers.sent_at IS NOT NULL AND transfers.status <> 'cancelled'
         ORDER BY refunds.id`,
  values: (railAccount, charges) => [
    railAccount,
    charges.map(({ merchantId }) => merchantId),
    charges.map(({ id }) => id),
  ],
});

/** A charge or a transfer, as the comparison needs it. */
export interface OwnRecord extends LineSubject {
  status: string;
  /** What the payer was to pay, or the beneficiary to receive. */
  amountMinor: bigint;
  currency: string;
  reference: string;
  name: string;
}

export const listRecords = rowsBy<OwnRecord, [subjects: readonly LineSubject[]]>({
  name: 'reconciliation_records',
  text: `-- across merchants: a line may be any merchant's
         SELECT charges.merchant_id AS "merchantId", charges.id, 'charge' AS type, charges.status,
                charges.amount_paid AS "amountMinor", charges.currency, charges.reference,
                charges.transaction_reference AS name
         FROM unnest($1::uuid[], $2::uuid[]) AS named (merchant_id, id)
         JOIN charges ON charges.merchant_id = named.merchant_id AND charges.id = named.id
         UNION ALL
         SELECT transfers.merchant_id, transfers.id, 'transfer', transfers.status, transfers.amount, transfers.currency,
                transfers.reference, transfers.id::text
         FROM unnest($1::uuid[], $2::uuid[]) AS named (merchant_id, id)
         JOIN transfers ON transfers.merchant_id = named.merchant_id AND transfers.id = named.id`,
  values: (subjects) => [subjects.map(({ merchantId }) => merchantId), subjects.map(({ id }) => id)],
});

/** What one flow of a source moved on the float. Sums are bututs as text. */
export interface FloatMovement {
  sourceId: string;
  flow: string;
  /** Whether it made the float larger. */
  isDebit: boolean;
  /** Whether the other side is what networks cost. */
  isCost: boolean;
  amount: string;
  /** What of it was booked before the day began, and before it ended. */
  beforeStart: string;
  beforeEnd: string;
  lastAt: Date;
  /** The first movement within the day, of this flow; null for none. */
  firstId: string | null;
}

export const listFloatMovements = rowsBy<
  FloatMovement,
  [query: { float: string; start: Date; end: Date; sources: readonly { merchantId: string; id: string }[] }]
>({
  name: 'reconciliation_float_movements',
  text: `-- across merchants: a line may be any merchant's
         SELECT source_id AS "sourceId", flow, debit_account = $1 AS "isDebit",
                (debit_account = 'network_costs' OR credit_account = 'network_costs') AS "isCost",
                sum(amount)::text AS amount,
                COALESCE(sum(amount) FILTER (WHERE created_at < $2), 0)::text AS "beforeStart",
                COALESCE(sum(amount) FILTER (WHERE created_at < $3), 0)::text AS "beforeEnd",
                max(created_at) AS "lastAt",
                (min(ledger_movements.id::text) FILTER (WHERE created_at >= $2 AND created_at < $3))::uuid AS "firstId"
         FROM unnest($4::uuid[], $5::uuid[]) AS named (merchant_id, id)
         JOIN ledger_movements ON ledger_movements.merchant_id = named.merchant_id
           AND ledger_movements.source_id = named.id
         WHERE debit_account = $1 OR credit_account = $1
         GROUP BY source_id, flow, 3, 4`,
  values: (query) => [
    query.float,
    query.start,
    query.end,
    query.sources.map(({ merchantId }) => merchantId),
    query.sources.map(({ id }) => id),
  ],
});

/** A movement on the float within a day. */
export interface DayMovement {
  id: string;
  sourceType: string;
  sourceId: string;
}

/** By id, after `after`; the ids bound what is read. */
export const listDayMovements = rowsBy<
  DayMovement,
  [query: { merchantId: string; float: string; start: Date; end: Date; idMax: string; after: string; rowsMax: number }]
>({
  name: 'reconciliation_day_movements',
  text: `SELECT id, source_type AS "sourceType", source_id AS "sourceId" FROM ledger_movements
         WHERE merchant_id = $1 AND id > $5 AND id < $6 AND created_at >= $3 AND created_at < $4
           AND (debit_account = $2 OR credit_account = $2)
         ORDER BY id LIMIT $7`,
  values: (query) => [query.merchantId, query.float, query.start, query.end, query.after, query.idMax, query.rowsMax],
});

/** Who has money on a float, by id. */
export async function listMerchantsOnFloat(db: Queryable, float: string): Promise<string[]> {
  const rows = await db.rows<{ merchantId: string }>({
    name: 'reconciliation_merchants_on_float',
    text: `-- across merchants: an account may serve all of them
           SELECT merchant_id AS "merchantId" FROM ledger_accounts WHERE account = $1
           UNION SELECT merchant_id FROM ledger_deltas WHERE account = $1 ORDER BY 1`,
    values: [float],
  });
  return rows.map(({ merchantId }) => merchantId);
}

/** A float's balance at two times, of all merchants together; bututs as text. */
export const readFloatBalances = rowBy<
  { atStart: string; atEnd: string },
  [query: { float: string; merchants: readonly string[]; start: Date; end: Date; firstId: string }]
>({
  name: 'reconciliation_float_balances',
  text: `-- across merchants: an account may serve all of them
         WITH now AS (
           SELECT sum(amount) AS balance FROM (
             SELECT balance AS amount FROM ledger_accounts WHERE account = $1
             UNION ALL SELECT amount FROM ledger_deltas WHERE account = $1
           ) AS parts
         ), later AS (
           SELECT sum(CASE WHEN debit_account = $1 THEN amount ELSE -amount END) AS after_start,
                  sum(CASE WHEN debit_account = $1 THEN amount ELSE -amount END) FILTER (WHERE created_at >= $3) AS after_end
           FROM ledger_movements
           WHERE merchant_id = ANY ($4::uuid[]) AND id >= $5 AND created_at >= $2
             AND (debit_account = $1 OR credit_account = $1)
         )
         SELECT (COALESCE(balance, 0) - COALESCE(after_start, 0))::text AS "atStart",
                (COALESCE(balance, 0) - COALESCE(after_end, 0))::text AS "atEnd"
         FROM now, later`,
  values: (query) => [query.float, query.start, query.end, query.merchants, query.firstId],
});

/** A payment that a line without a reference may belong to. */
export interface Candidate extends OwnRecord {
  createdAt: Date;
}

/** Charges of these numbers and this amount around a time: only a person can say whether one is meant. */
export function listCandidates(
  db: Queryable,
  query: {
    railAccount: string;
    merchants: readonly string[];
    numbers: readonly string[];
    amountMinor: bigint;
    from: Date;
    to: Date;
    rowsMax: number;
  },
): Promise<Candidate[]> {
  return db.rows({
    name: 'reconciliation_candidates',
    text: `-- across merchants: a line may be any merchant's
           SELECT merchant_id AS "merchantId", id, 'charge' AS type, status, amount_paid AS "amountMinor", currency, reference,
                  transaction_reference AS name, created_at AS "createdAt"
           FROM charges
           WHERE merchant_id = ANY ($2::uuid[]) AND account_canonical = ANY ($3::text[]) AND amount_paid = $4
             AND created_at >= $5 AND created_at < $6 AND COALESCE(rail_account, $1) = $1
             AND network_transaction_id IS NULL
           ORDER BY created_at DESC LIMIT $7`,
    values: [query.railAccount, query.merchants, query.numbers, query.amountMinor, query.from, query.to, query.rowsMax],
  });
}

/** The merchants of an environment. */
export const listMerchantIds = idsBy<[testMode: boolean]>({
  name: 'reconciliation_merchant_ids',
  text: 'SELECT id FROM merchants WHERE test_mode = $1',
});
