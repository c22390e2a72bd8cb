import { finderOf } from '../api/find-record.ts';
import { columnFilter, type ListFilter, type TimeFilter } from '../api/list-filter.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import { searchRequest, type SearchFilter } from '../api/search-request.ts';
import type { TypedSearch } from '../api/typed-search.ts';
import type { Queryable } from '../kit/db.ts';
import { rowBy, rowsBy, runBy, valueBy } from '../kit/run-statement.ts';
import type { Receipt, ReceiptPhone, ReceiptStatus } from './receipt.ts';

const columns = `merchant_id AS "merchantId", id, rail_account AS "railAccount", network, transaction_id AS "transactionId",
  transaction_key AS "transactionKey", amount AS "amountMinor", currency, payer_number AS "payerNumber",
  payer_name AS "payerName", balance AS "balanceMinor", status, dated_at AS "datedAt", charge_id AS "chargeId",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Writes no row where the account has a receipt of this transaction. */
export const insertReceiptOnce = runBy<[receipt: Omit<Receipt, 'chargeId' | 'updatedAt'>]>({
  name: 'receipts_insert_once',
  text: `INSERT INTO receipts (merchant_id, id, rail_account, network, transaction_id, transaction_key, amount, currency,
           payer_number, payer_name, balance, status, dated_at, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
         ON CONFLICT (merchant_id, rail_account, transaction_key) DO NOTHING`,
  values: (receipt) => [
    receipt.merchantId,
    receipt.id,
    receipt.railAccount,
    receipt.network,
    receipt.transactionId,
    receipt.transactionKey,
    receipt.amountMinor,
    receipt.currency,
    receipt.payerNumber,
    receipt.payerName,
    receipt.balanceMinor,
    receipt.status,
    receipt.datedAt,
    receipt.createdAt,
  ],
});

export const findReceiptById = finderOf<Receipt>({
  name: 'receipts_find_by_id',
  text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND id = $2`,
});

/** At most one: a transaction has one receipt on an account. */
export const findReceiptByKey = rowBy<Receipt, [Pick<Receipt, 'merchantId' | 'railAccount' | 'transactionKey'>]>({
  name: 'receipts_find_by_key',
  text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND rail_account = $2 AND transaction_key = $3`,
  values: ({ merchantId, railAccount, transactionKey }) => [merchantId, railAccount, transactionKey],
});

/** The receipts of transactions with this id, on whichever of the networks and in whichever till of the merchant. */
export const listReceiptsOfTransaction = rowsBy<
  Receipt,
  [{ merchantId: string; networks: readonly string[]; transactionKey: string }]
>({
  name: 'receipts_list_of_transaction',
  text: `SELECT ${columns} FROM receipts
         WHERE merchant_id = $1 AND network = ANY ($2::text[]) AND transaction_key = $3 ORDER BY id LIMIT 10`,
  values: ({ merchantId, networks, transactionKey }) => [merchantId, networks, transactionKey],
});

/**
 * Locks the receipts of a transaction in all tills of a merchant, and returns the charge that one of them has paid. The network is the
 * same in all of them, so its id is.
 */
export async function lockPaidCharge(
  tx: Queryable,
  { merchantId, network, transactionKey }: Pick<Receipt, 'merchantId' | 'network' | 'transactionKey'>,
): Promise<string | null> {
  const rows = await tx.rows<{ chargeId: string | null }>({
    name: 'receipts_lock_of_transaction',
    text: `SELECT charge_id AS "chargeId" FROM receipts
           WHERE merchant_id = $1 AND network = $2 AND transaction_key = $3 ORDER BY id FOR UPDATE`,
    values: [merchantId, network, transactionKey],
  });
  return rows.find(({ chargeId }) => chargeId !== null)?.chargeId ?? null;
}

/** The charge that a receipt of the transaction has paid, in whichever till of the merchant; null for none. */
export const findPaidCharge = valueBy<string | null, [Pick<Receipt, 'merchantId' | 'network' | 'transactionKey'>]>({
  name: 'receipts_find_paid_charge',
  text: `SELECT charge_id AS value FROM receipts
         WHERE merchant_id = $1 AND network = $2 AND transaction_key = $3 AND charge_id IS NOT NULL`,
  values: ({ merchantId, network, transactionKey }) => [merchantId, network, transactionKey],
  none: null,
});

/** Updates no row where the receipt pays another charge, or the statement contradicts it. */
export const assignReceipt = runBy<[Pick<Receipt, 'merchantId' | 'id' | 'updatedAt'> & { chargeId: string }]>({
  name: 'receipts_assign',
  text: `UPDATE receipts SET charge_id = $3, updated_at = $4
         WHERE merchant_id = $1 AND id = $2 AND charge_id IS NULL AND status <> 'contradicted'`,
  values: ({ merchantId, id, chargeId, updatedAt }) => [merchantId, id, chargeId, updatedAt],
});

/** Updates no row where the receipt has left `expected`, or was assigned meanwhile. */
export function updateReceiptStatus(
  db: Queryable,
  receipt: Pick<Receipt, 'merchantId' | 'id' | 'chargeId' | 'status' | 'updatedAt'>,
  expected: readonly ReceiptStatus[],
): Promise<number> {
  return db.run({
    name: 'receipts_update_status',
    text: `UPDATE receipts SET status = $3, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND status = ANY ($5) AND charge_id IS NOT DISTINCT FROM $6`,
    values: [receipt.merchantId, receipt.id, receipt.status, receipt.updatedAt, [...expected], receipt.chargeId],
  });
}

/** What no line has confirmed of a time, by id after `after`. */
export const listUnconfirmedReceipts = rowsBy<
  Receipt,
  [query: { merchantId: string; railAccount: string; start: Date; end: Date; after: string | null; rowsMax: number }]
>({
  name: 'receipts_list_unconfirmed',
  text: `SELECT ${columns} FROM receipts
         WHERE merchant_id = $1 AND rail_account = $2 AND status = 'unconfirmed' AND dated_at >= $3 AND dated_at < $4
           AND ($5::uuid IS NULL OR id > $5)
         ORDER BY id LIMIT $6`,
  values: (query) => [query.merchantId, query.railAccount, query.start, query.end, query.after, query.rowsMax],
});

/** The receipt that has paid a charge, also once a statement contradicts it; undefined for none. */
export const findReceiptOfCharge = finderOf<Receipt>({
  name: 'receipts_find_of_charge',
  text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND charge_id = $2 LIMIT 1`,
});

/** Filters of the list of receipts that have paid nothing; undefined is no filter. */
export interface ReceiptFilter extends TimeFilter, SearchFilter {
  status?: ReceiptStatus | undefined;
  /** A condition of a part above, on the table `receipts`. */
  only?: readonly ListFilter[] | undefined;
}

const listed = `FROM receipts WHERE merchant_id = $1 AND charge_id IS NULL AND status <> 'contradicted'`;

const unmatched: ListSource<Receipt> = {
  name: 'receipts_unmatched',
  select: `SELECT ${columns} ${listed}`,
  sum: '"amountMinor"',
};

const searched = {
  ...{ listed, id: 'id', amount: 'amount' },
  texts: ['transaction_id', `replace(payer_number, ' ', '')`, 'payer_name'],
};

/** Newest first, with their sum. */
export const listUnmatchedReceipts = listOf(unmatched, (filter: ReceiptFilter) => {
  const { status, from, to, typed, only = [] } = filter;
  const newestOf = [
    ...columnFilter('status', 'status =', status),
    ...columnFilter('from', 'dated_at >=', from),
    ...columnFilter('to', 'dated_at <=', to),
  ];
  const search = typed && { typed: typed.kind === 'number' ? lastDigitsOf(typed.canonical) : typed };
  return searchRequest(search ?? {}, searched, { newestOf, others: only });
});

/** What the old and the new form of a number, with and without the country's code, have in common: messages have any of them. */
function lastDigitsOf(canonical: string): TypedSearch {
  return { kind: 'text', text: canonical.slice(-7), amountMinor: null };
}

/** At most one write a minute for each kind of sign, since a phone that forwards much would only repeat it. */
export function notePhone(db: Queryable, phone: ReceiptPhone & { noteAgainBefore: Date }): Promise<number> {
  return db.run({
    name: 'receipt_phones_note',
    text: `INSERT INTO receipt_phones (merchant_id, rail_account, seen_at, pinged_at, message_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (merchant_id, rail_account) DO UPDATE
           SET seen_at = excluded.seen_at, pinged_at = COALESCE(excluded.pinged_at, receipt_phones.pinged_at),
               message_at = COALESCE(excluded.message_at, receipt_phones.message_at)
           WHERE receipt_phones.seen_at < $6
              OR excluded.pinged_at IS NOT NULL AND COALESCE(receipt_phones.pinged_at, '-infinity') < $6
              OR excluded.message_at IS NOT NULL AND COALESCE(receipt_phones.message_at, '-infinity') < $6`,
    values: [phone.merchantId, phone.railAccount, phone.seenAt, phone.pingedAt, phone.messageAt, phone.noteAgainBefore],
  });
}

export const listPhones = rowsBy<ReceiptPhone, [railAccounts: readonly string[]]>({
  name: 'receipt_phones_list',
  text: `-- across merchants: the operator watches the phones of all accounts
         SELECT merchant_id AS "merchantId", rail_account AS "railAccount", seen_at AS "seenAt", pinged_at AS "pingedAt",
                message_at AS "messageAt"
         FROM receipt_phones WHERE rail_account = ANY ($1)`,
});

/**
 * By till, the receipts stored since an id whose balance is higher than the one before it and their amount make: money came in of
 * which no message has arrived. A lower one is money that went out, which is no receipt. Tills without one are left out.
 */
export function countBalanceGaps(
  db: Queryable,
  tills: readonly Pick<Receipt, 'merchantId' | 'railAccount'>[],
  sinceId: string,
): Promise<{ railAccount: string; count: bigint }[]> {
  return db.rows({
    name: 'receipts_count_balance_gaps',
    text: `-- across merchants: the operator watches the phones of all accounts
           SELECT rail_account AS "railAccount", count(*) AS count FROM (
             SELECT rail_account, balance - amount - lag(balance) OVER (
               PARTITION BY merchant_id, rail_account ORDER BY dated_at, balance
             ) AS missing FROM receipts
             WHERE merchant_id = ANY ($1::uuid[]) AND rail_account = ANY ($2::text[]) AND id >= $3
               AND balance IS NOT NULL AND status <> 'contradicted'
           ) AS steps WHERE missing > 0 GROUP BY rail_account`,
    values: [tills.map(({ merchantId }) => merchantId), tills.map(({ railAccount }) => railAccount), sinceId],
  });
}
