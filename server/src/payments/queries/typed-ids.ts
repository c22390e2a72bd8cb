import type { Queryable, Statement } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';

/** A transaction id that a payer typed for a payment. */
export interface TypedIdRow {
  merchantId: string;
  intentId: string;
  railAccount: string;
  transactionKey: string;
  chargeId: string;
  state: TypedIdState;
  typedAt: Date;
}

/** `contested`: a person looks at it. `refused` counts as a wrong id. */
export type TypedIdState = 'waiting' | 'contested' | 'refused' | 'paid';

export type TransactionOfAccount = Pick<TypedIdRow, 'merchantId' | 'railAccount' | 'transactionKey'>;

const columns = `merchant_id AS "merchantId", intent_id AS "intentId", rail_account AS "railAccount",
  transaction_key AS "transactionKey", charge_id AS "chargeId", state, typed_at AS "typedAt"`;

/** Once for each payment and id; the caller holds the payment's lock. */
export function insertTypedId(row: TypedIdRow): Statement {
  return {
    name: 'typed_ids_insert',
    text: `INSERT INTO typed_ids (merchant_id, intent_id, rail_account, transaction_key, charge_id, state, typed_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [row.merchantId, row.intentId, row.railAccount, row.transactionKey, row.chargeId, row.state, row.typedAt],
  };
}

/** A payer's ids for one payment, in the order in which they were typed. */
export const listTypedIdsOfIntent = rowsBy<TypedIdRow, [merchantId: string, intentId: string]>({
  name: 'typed_ids_list_of_intent',
  text: `SELECT ${columns} FROM typed_ids WHERE merchant_id = $1 AND intent_id = $2 ORDER BY typed_at, transaction_key`,
});

/** The payments for which an id was typed, in the order in which it was. */
export const listTypedIdsOfTransaction = rowsBy<TypedIdRow, [TransactionOfAccount]>({
  name: 'typed_ids_list_of_transaction',
  text: `SELECT ${columns} FROM typed_ids WHERE merchant_id = $1 AND rail_account = $2 AND transaction_key = $3
         ORDER BY typed_at, intent_id`,
  values: ({ merchantId, railAccount, transactionKey }) => [merchantId, railAccount, transactionKey],
});

/** The same for several transactions. */
export const listTypedIdsOfTransactions = rowsBy<
  TypedIdRow,
  [merchantId: string, transactions: readonly Pick<TransactionOfAccount, 'railAccount' | 'transactionKey'>[]]
>({
  name: 'typed_ids_list_of_transactions',
  text: `SELECT ${columns} FROM typed_ids
         WHERE merchant_id = $1 AND rail_account = ANY ($2) AND transaction_key = ANY ($3)
         ORDER BY typed_at, intent_id`,
  values: (merchantId, transactions) => [
    merchantId,
    [...new Set(transactions.map(({ railAccount }) => railAccount))],
    transactions.map(({ transactionKey }) => transactionKey),
  ],
});

/** Updates no row where the id has left `expected`. */
export function updateTypedId(
  db: Queryable,
  row: Pick<TypedIdRow, 'merchantId' | 'intentId' | 'railAccount' | 'transactionKey' | 'state'>,
  expected: readonly TypedIdState[],
): Promise<number> {
  return db.run({
    name: 'typed_ids_update',
    text: `UPDATE typed_ids SET state = $5
           WHERE merchant_id = $1 AND intent_id = $2 AND rail_account = $3 AND transaction_key = $4 AND state = ANY ($6)`,
    values: [row.merchantId, row.intentId, row.railAccount, row.transactionKey, row.state, [...expected]],
  });
}
