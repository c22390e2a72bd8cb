import type { Queryable, Statement } from '../kit/db.ts';
import { statementBy } from '../kit/run-statement.ts';
import { columnFilter, createdFilter, idFilters, type TimeFilter } from '../api/list-filter.ts';
import { summedListOf, type ListConditions, type ListSource } from '../api/list-reader.ts';
import { searchRequest, type SearchFilter } from '../api/search-request.ts';
import type { Refund, RefundPart, RefundStatus } from './refund.ts';

/** The parts' amounts are text, so that none is read as a float. $1 is the merchant in each statement with them. */
const partsColumn = `COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]')`;

const columns = `refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  ${partsColumn} AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.account_number AS "accountNumber", transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt"`;

/** A refund is read with its transfer and its charge. */
const joined = `refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id`;

type RefundRow = Omit<Refund, 'parts'> & { parts: [RefundPart['account'], string, string][] };

function toRefund(row: RefundRow): Refund {
  const parts = row.parts.map(([account, amount, advanced]) => ({
    account,
    amountMinor: BigInt(amount),
    advancedMinor: BigInt(advanced),
  }));
  return { ...row, parts };
}

export function insertRefund(
  refund: Pick<Refund, 'merchantId' | 'id' | 'chargeId' | 'amountMinor' | 'currency' | 'createdAt'>,
): Statement {
  return {
    name: 'refunds_insert',
    text: `INSERT INTO refunds (merchant_id, id, charge_id, amount, currency, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [refund.merchantId, refund.id, refund.chargeId, refund.amountMinor, refund.currency, refund.createdAt],
  };
}

export function insertRefundParts(
  { merchantId, id }: Pick<Refund, 'merchantId' | 'id'>,
  parts: readonly RefundPart[],
): Statement {
  const rows = parts.map((_part, index) => `($1, $2, $${3 * index + 3}, $${3 * index + 4}, $${3 * index + 5})`);
  return {
    name: `refund_parts_insert_${parts.length}`,
    text: `INSERT INTO refund_parts (merchant_id, refund_id, account, amount, advanced) VALUES ${rows.join(', ')}`,
    values: [merchantId, id, ...parts.flatMap((part) => [part.account, part.amountMinor, part.advancedMinor])],
  };
}

/** What a party still gives after the network has reversed a part of the refund. */
export const updateRefundPart = statementBy<[Pick<Refund, 'merchantId' | 'id'>, part: RefundPart]>({
  name: 'refund_parts_update',
  text: `UPDATE refund_parts SET amount = $4, advanced = $5 WHERE merchant_id = $1 AND refund_id = $2 AND account = $3`,
  values: ({ merchantId, id }, part) => [merchantId, id, part.account, part.amountMinor, part.advancedMinor],
});

/** For a refund that failed or was reversed: no party gives anything. */
export const deleteRefundParts = statementBy<[Pick<Refund, 'merchantId' | 'id'>]>({
  name: 'refund_parts_delete',
  text: 'DELETE FROM refund_parts WHERE merchant_id = $1 AND refund_id = $2',
  values: ({ merchantId, id }) => [merchantId, id],
});

export async function findRefundById(db: Queryable, merchantId: string, id: string): Promise<Refund | undefined> {
  const row = await db.row<RefundRow>({
    name: 'refunds_find_by_id',
    text: `SELECT ${columns} FROM ${joined} WHERE refunds.merchant_id = $1 AND refunds.id = $2`,
    values: [merchantId, id],
  });
  return row && toRefund(row);
}

/** All of them, also failed ones. A charge has only a few refunds; the caller holds its payment's lock. */
export async function listRefundsOfCharge(db: Queryable, merchantId: string, chargeId: string): Promise<Refund[]> {
  const rows = await db.rows<RefundRow>({
    name: 'refunds_list_of_charge',
    text: `SELECT ${columns} FROM ${joined} WHERE refunds.merchant_id = $1 AND charge_id = $2 ORDER BY refunds.id`,
    values: [merchantId, chargeId],
  });
  return rows.map(toRefund);
}

export interface RefundFilter extends TimeFilter, SearchFilter {
  status?: RefundStatus | undefined;
  chargeId?: string | undefined;
}

const payerColumn = `(SELECT concat_ws(' ', title, customer_name, customer_email) FROM payment_intents
  WHERE payment_intents.merchant_id = $1 AND payment_intents.id = charges.intent_id)`;

const listed = `FROM ${joined} WHERE refunds.merchant_id = $1`;

const searched = {
  listed,
  texts: [
    ...['transfers.reference', 'transfers.account_number', 'transfers.account_canonical', 'charges.reference'],
    ...['charges.transaction_reference', 'refunds.id::text', payerColumn],
  ],
  ...{ id: 'refunds.id', amount: 'refunds.amount', number: 'transfers.account_canonical' },
  reference: 'transfers.reference',
};

const refundList: ListSource<Refund, RefundRow> = {
  name: 'refunds',
  select: `SELECT ${columns} ${listed}`,
  idColumn: 'refunds.id',
  onlyGrows: true,
  toRow: toRefund,
};

/** Newest first. */
export const {
  list: listRefunds,
  rows: listRefundRows,
  totals: sumRefunds,
} = summedListOf(refundList, '"amountMinor"', conditionsOf);

function conditionsOf(filter: RefundFilter): ListConditions {
  const others = columnFilter('status', `${statusColumn} =`, filter.status);
  const newestOf = [
    ...columnFilter('charge', 'charge_id =', filter.chargeId),
    ...createdFilter('refunds', filter),
    ...idFilters('refunds.id', filter),
  ];
  return searchRequest(filter, searched, { newestOf, others });
}

/** As `refundStatus` says. */
const statusColumn = `CASE WHEN transfers.status IN ('pending', 'completed') THEN transfers.status ELSE 'failed' END`;
