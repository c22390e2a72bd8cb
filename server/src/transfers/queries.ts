import { utcDay } from '../kit/clock.ts';
import type { Queryable, Statement } from '../kit/db.ts';
import { idsBy, isFoundBy, rowBy, rowsBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { rowByLast, rowOfId, statementForMany, typedRow } from '../kit/many-rows.ts';
import { columnFilter, createdFilter, idFilters, type TimeFilter } from '../api/list-filter.ts';
import { summedListOf, type List, type ListConditions, type ListReader, type ListSource } from '../api/list-reader.ts';
import { searchRequest, type SearchFilter } from '../api/search-request.ts';
import type { PageRequest } from '../api/pagination.ts';
import type { Transfer, TransferKind, TransferStatus } from './transfer.ts';

const columns = `merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, rail_account AS "railAccount", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt",
  batch_reference AS "batchReference", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt"`;

export function insertTransfer(transfer: Transfer): Statement {
  return {
    name: 'transfers_insert',
    text: `INSERT INTO transfers (merchant_id, id, kind, status, amount, fee, currency, network, account_number,
             account_canonical, beneficiary_name, narration, callback_url, metadata, sub_account_id, route,
             original_reference, reference, progress, sends, event_sequence, created_at, updated_at, rail_account)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $22, $23)`,
    values: [
      transfer.merchantId,
      transfer.id,
      transfer.kind,
      transfer.status,
      transfer.amountMinor,
      transfer.feeMinor,
      transfer.currency,
      transfer.network,
      transfer.accountNumber,
      transfer.accountCanonical,
      transfer.beneficiaryName,
      transfer.narration,
      transfer.callbackUrl,
      JSON.stringify(transfer.metadata),
      transfer.subAccountId,
      transfer.route,
      transfer.originalReference,
      transfer.reference,
      transfer.progress,
      transfer.sends,
      transfer.eventSequence,
      transfer.createdAt,
      transfer.railAccount,
    ],
    rowKey: transfer.id,
  };
}

export const findTransferById = rowByLast<Transfer, [merchantId: string, id: string]>({
  name: 'transfers_find_by_id',
  column: 'id',
  text: (ids) => `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND id IN (${ids})`,
  // As the database returns it.
  values: (merchantId, id) => [merchantId, id.toLowerCase()],
});

export const findTransferByReference = rowByLast<Transfer, [merchantId: string, reference: string]>({
  name: 'transfers_find_by_reference',
  column: 'reference',
  text: (references) => `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND reference IN (${references})`,
});

export const findTransfersById = rowsBy<Transfer, [merchantId: string, ids: readonly string[]]>({
  name: 'transfers_find_by_ids',
  text: `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id`,
});

/** All that were sent in a batch, in the order in which it has them. */
export const listTransfersOfBatch = rowsBy<Transfer, [merchantId: string, batchReference: string]>({
  name: 'transfers_list_of_batch',
  text: `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND batch_reference = $2 ORDER BY id`,
});

/** Whether the merchant has paid this number before: money arrived there. */
export const isNumberPaidBefore = isFoundBy<[merchantId: string, accountCanonical: string]>({
  name: 'transfers_find_paid_number',
  text: `SELECT id FROM transfers
         WHERE merchant_id = $1 AND account_canonical = $2 AND kind = 'transfer' AND status = 'completed' LIMIT 1`,
});

/** Every change of a transfer locks it first, before any account of the ledger. */
export function lockTransfer(db: Queryable, merchantId: string, id: string): Promise<Transfer | undefined> {
  return db.row<Transfer>({
    name: 'transfers_lock',
    text: `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND id = $2 FOR UPDATE`,
    values: [merchantId, id],
    many: {
      text: (ids) => `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND id IN (${ids})
           ORDER BY id FOR UPDATE SKIP LOCKED`,
      skipsLocked: true,
      parameters: '$2',
      sharedValues: 1,
      ...rowOfId(id),
    },
  });
}

/** Locks in the order of the ids, in which every transaction that locks several takes them. */
export const lockTransfers = rowsBy<Transfer, [merchantId: string, ids: readonly string[]]>({
  name: 'transfers_lock_several',
  text: `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE`,
});

/** Of one merchant: the transfers of which the networks should not know yet, in the order of their ids, after `after`. */
export const listUnsentTransfers = idsBy<[merchantId: string, { after: string | null; rowsMax: number }]>({
  name: 'transfers_list_unsent',
  text: `SELECT id FROM transfers
         WHERE merchant_id = $1 AND status = 'pending' AND progress = 'created' AND ($2::uuid IS NULL OR id > $2)
         ORDER BY id LIMIT $3`,
  values: (merchantId, { after, rowsMax }) => [merchantId, after, rowsMax],
});

const updatedTypes = [
  ...['uuid', 'text', 'text', 'text', 'bigint', 'timestamptz', 'text', 'text', 'text', 'json', 'text', 'text', 'text'],
  ...['bigint', 'timestamptz', 'timestamptz', 'bigint', 'text'],
];

/** Guarded by the current status: changes no row when the transfer has another one by now. */
export function updateTransfer(db: Queryable, currentStatus: TransferStatus, next: Transfer): Promise<number> {
  return db.run(
    statementForMany({
      name: 'transfers_update',
      text: (rows) => `UPDATE transfers
           SET status = next.status, progress = next.progress, sends = next.sends, sent_at = next.sent_at,
               waiting_for = next.waiting_for, network_reference = next.network_reference,
               network_transaction_id = next.network_transaction_id, network_handles = next.network_handles,
               failure_code = next.failure_code, failure_reason = next.failure_reason, review = next.review,
               event_sequence = next.event_sequence, updated_at = next.updated_at, completed_at = next.completed_at,
               amount_reversed = next.amount_reversed, batch_reference = next.batch_reference
           FROM (VALUES ${rows}) AS next (id, expected, status, progress, sends, sent_at, waiting_for, network_reference,
             network_transaction_id, network_handles, failure_code, failure_reason, review, event_sequence, updated_at,
             completed_at, amount_reversed, batch_reference)
           WHERE transfers.merchant_id = $1 AND transfers.id = next.id AND transfers.status = next.expected
           RETURNING transfers.id`,
      parameters: typedRow(2, updatedTypes),
      values: [
        next.merchantId,
        next.id,
        currentStatus,
        next.status,
        next.progress,
        next.sends,
        next.sentAt,
        next.waitingFor,
        next.networkReference,
        next.networkTransactionId,
        next.networkHandles === null ? null : JSON.stringify(next.networkHandles),
        next.failureCode,
        next.failureReason,
        next.review,
        next.eventSequence,
        next.updatedAt,
        next.completedAt,
        next.amountReversedMinor,
        next.batchReference,
      ],
      sharedValues: 1,
      ...rowOfId(next.id),
    }),
  );
}

export interface TransferFilter extends TimeFilter, SearchFilter {
  kind?: Exclude<TransferKind, 'refund'> | undefined;
  status?: TransferStatus | undefined;
}

// The API shows a refund as a record of its own.
const listed = `FROM transfers WHERE merchant_id = $1 AND kind <> 'refund'`;

const searched = {
  listed,
  texts: [
    ...['account_number', 'account_canonical', 'beneficiary_name', 'narration', 'reference', 'network_reference'],
    ...['network_transaction_id', 'id::text'],
  ],
  ...{ id: 'id', amount: 'amount', number: 'account_canonical', reference: 'reference' },
};

const transferList: ListSource<Transfer> = {
  name: 'transfers',
  select: `SELECT ${columns} ${listed}`,
  onlyGrows: true,
};

/** Newest first. */
export const {
  list: listTransfers,
  rows: listTransferRows,
  totals: sumTransfers,
} = summedListOf(transferList, '"amountMinor"', conditionsOf);

function conditionsOf(filter: TransferFilter): ListConditions {
  const others = [...columnFilter('kind', 'kind =', filter.kind), ...columnFilter('status', 'status =', filter.status)];
  const times = [...createdFilter('transfers', filter), ...idFilters('id', filter)];
  return searchRequest(filter, searched, { newestOf: times, others });
}

const pendingList: ListSource<Transfer> = {
  name: 'transfers_pending',
  select: `SELECT ${columns} FROM transfers WHERE merchant_id = $1 AND status = 'pending'`,
  // With their fees they are what the account `held` has.
  sum: '"amountMinor" + "feeMinor"',
};

/** Every transfer, payout and refund whose money is held, newest first. */
export function listPending(lists: ListReader, merchantId: string, page: PageRequest): Promise<List<Transfer>> {
  return lists.read(pendingList, { merchantId, page, filters: [], isSearch: false });
}

/**
 * The first open hold that no transfer requires, or the first transfer whose hold is missing or of another amount. The money
 * of a transfer with an amount mismatch is in `suspense`.
 */
export const findUnmatchedHold = rowBy<
  { merchantId: string; id: string; heldMinor: bigint | null; requiredMinor: bigint | null },
  []
>({
  name: 'transfers_unmatched_hold',
  text: `-- across merchants: the verification reads everybody's
         SELECT merchant_id AS "merchantId", id, sum(held)::bigint AS "heldMinor", sum(required)::bigint AS "requiredMinor"
         FROM (
           SELECT merchant_id, source_id AS id, amount AS held, NULL::bigint AS required FROM ledger_holds
           WHERE status = 'open' AND source_type = 'transfer'
           UNION ALL
           SELECT merchant_id, id, NULL, amount + fee FROM transfers
           WHERE status = 'pending' AND review IS DISTINCT FROM 'amount_mismatch'
         ) AS sides
         GROUP BY merchant_id, id HAVING sum(held) IS DISTINCT FROM sum(required)
         ORDER BY merchant_id, id LIMIT 1`,
});

/** The row that a transfer is counted in: one for each merchant, currency and UTC day. */
type DayOfTransfer = Pick<Transfer, 'merchantId' | 'currency' | 'createdAt'>;

const dayKey = ({ merchantId, currency, createdAt }: DayOfTransfer) =>
  [merchantId, utcDay(createdAt), currency] as const;

/** Counts without a limit. A merchant's transfers of one day wait for each other here until their transactions end. */
export function addToTransferDay(transfer: DayOfTransfer & Pick<Transfer, 'amountMinor'>): Statement {
  return {
    name: 'transfer_days_add',
    text: `INSERT INTO transfer_days (merchant_id, day, currency, amount) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, day, currency) DO UPDATE SET amount = transfer_days.amount + excluded.amount`,
    values: [...dayKey(transfer), transfer.amountMinor],
    adds: 3,
  };
}

/**
 * Counts only what keeps the day's total within the limit, and returns whether it did; the first transfer of a day is not
 * compared. Concurrent transfers wait for the row, so they never pass the limit together.
 */
export async function countTransferDay(
  db: Queryable,
  transfer: DayOfTransfer & Pick<Transfer, 'amountMinor'>,
  dailyMinor: bigint,
): Promise<boolean> {
  const touched = await db.run({
    name: 'transfer_days_count',
    text: `INSERT INTO transfer_days (merchant_id, day, currency, amount) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, day, currency) DO UPDATE SET amount = transfer_days.amount + excluded.amount
             WHERE transfer_days.amount + excluded.amount <= $5`,
    values: [...dayKey(transfer), transfer.amountMinor, dailyMinor],
  });
  return touched === 1;
}

export const readTransferDay = valueBy<bigint, [day: DayOfTransfer]>({
  name: 'transfer_days_read',
  text: 'SELECT amount AS value FROM transfer_days WHERE merchant_id = $1 AND day = $2 AND currency = $3',
  values: dayKey,
  none: 0n,
});

/** Changes nothing for a transfer that was not counted; the table's CHECK refuses to subtract more than was counted. */
export const subtractFromTransferDay = statementBy<[transfer: DayOfTransfer & Pick<Transfer, 'amountMinor'>]>({
  name: 'transfer_days_take',
  text: `UPDATE transfer_days SET amount = amount - $4 WHERE merchant_id = $1 AND day = $2 AND currency = $3`,
  values: (transfer) => [...dayKey(transfer), transfer.amountMinor],
});

/** What a merchant's pending transfers and refunds take from these rail accounts together, in bututs. */
export const sumPendingOfAccounts = valueBy<bigint, [{ merchantId: string; railAccounts: readonly string[] }]>({
  name: 'transfers_sum_pending_of_accounts',
  text: `SELECT coalesce(sum(amount), 0)::bigint AS value FROM transfers
          WHERE merchant_id = $1 AND status = 'pending' AND rail_account = ANY ($2::text[])`,
  values: ({ merchantId, railAccounts }) => [merchantId, railAccounts],
  none: 0n,
});
