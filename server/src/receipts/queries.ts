import { columnFilter } from '../api/list-filter.ts';
import type { ListFilter, TimeFilter } from '../api/list-filter.ts';
import type { List, ListReader, ListSource } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import { searchRequest } from '../api/search-request.ts';
import type { SearchFilter } from '../api/search-request.ts';
import type { TypedSearch } from '../api/typed-search.ts';
import type { Queryable } from '../kit/db.ts';
import type { Receipt, ReceiptStatus } from './receipt.ts';

const columns = `merchant_id AS "merchantId", id, rail_account AS "railAccount", network, transaction_id AS "transactionId",
  transaction_key AS "transactionKey", amount AS "amountMinor", currency, payer_number AS "payerNumber",
  payer_name AS "payerName", balance AS "balanceMinor", status, dated_at AS "datedAt", charge_id AS "chargeId",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Writes no row where the account has a receipt of this transaction. */
export function insertReceiptOnce(db: Queryable, receipt: Omit<Receipt, 'chargeId' | 'updatedAt'>): Promise<number> {
  return db.run({
    name: 'receipts_insert_once',
    text: `INSERT INTO receipts (merchant_id, id, rail_account, network, transaction_id, transaction_key, amount, currency,
             payer_number, payer_name, balance, status, dated_at, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
           ON CONFLICT (merchant_id, rail_account, transaction_key) DO NOTHING`,
    values: [
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
}

export function findReceiptById(db: Queryable, merchantId: string, id: string): Promise<Receipt | undefined> {
  return db.row<Receipt>({
    name: 'receipts_find_by_id',
    text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND id = $2`,
    values: [merchantId, id],
  });
}

/** At most one: a transaction has one receipt on an account. */
export function findReceiptByKey(
  db: Queryable,
  { merchantId, railAccount, transactionKey }: Pick<Receipt, 'merchantId' | 'railAccount' | 'transactionKey'>,
): Promise<Receipt | undefined> {
  return db.row<Receipt>({
    name: 'receipts_find_by_key',
    text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND rail_account = $2 AND transaction_key = $3`,
    values: [merchantId, railAccount, transactionKey],
  });
}

/** Updates no row where the receipt pays another charge, or the statement contradicts it. */
export function assignReceipt(
  db: Queryable,
  { merchantId, id, chargeId, updatedAt }: Pick<Receipt, 'merchantId' | 'id' | 'updatedAt'> & { chargeId: string },
): Promise<number> {
  return db.run({
    name: 'receipts_assign',
    text: `UPDATE receipts SET charge_id = $3, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND charge_id IS NULL AND status <> 'contradicted'`,
    values: [merchantId, id, chargeId, updatedAt],
  });
}

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
export function listUnconfirmedReceipts(
  db: Queryable,
  query: { merchantId: string; railAccount: string; start: Date; end: Date; after: string | null; rowsMax: number },
): Promise<Receipt[]> {
  return db.rows<Receipt>({
    name: 'receipts_list_unconfirmed',
    text: `SELECT ${columns} FROM receipts
           WHERE merchant_id = $1 AND rail_account = $2 AND status = 'unconfirmed' AND dated_at >= $3 AND dated_at < $4
             AND ($5::uuid IS NULL OR id > $5)
           ORDER BY id LIMIT $6`,
    values: [query.merchantId, query.railAccount, query.start, query.end, query.after, query.rowsMax],
  });
}

/** The receipt that has paid a charge, also once a statement contradicts it; undefined for none. */
export function findReceiptOfCharge(db: Queryable, merchantId: string, chargeId: string): Promise<Receipt | undefined> {
  return db.row<Receipt>({
    name: 'receipts_find_of_charge',
    text: `SELECT ${columns} FROM receipts WHERE merchant_id = $1 AND charge_id = $2 LIMIT 1`,
    values: [merchantId, chargeId],
  });
}

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

/** Newest first, with their sum. Throws AppError `rate_limited` when too many searches are running. */
export function listUnmatchedReceipts(
  lists: ListReader,
  merchantId: string,
  page: PageRequest,
  { status, from, to, typed, only = [] }: ReceiptFilter = {},
): Promise<List<Receipt>> {
  const newestOf = [
    ...columnFilter('status', 'status =', status),
    ...columnFilter('from', 'dated_at >=', from),
    ...columnFilter('to', 'dated_at <=', to),
  ];
  const search = typed && { typed: typed.kind === 'number' ? lastDigitsOf(typed.canonical) : typed };
  return lists.read(unmatched, {
    merchantId,
    page,
    ...searchRequest(search ?? {}, searched, { newestOf, others: only }),
  });
}

/** What the old and the new form of a number, with and without the country's code, have in common: messages have any of them. */
function lastDigitsOf(canonical: string): TypedSearch {
  return { kind: 'text', text: canonical.slice(-7), amountMinor: null };
}
