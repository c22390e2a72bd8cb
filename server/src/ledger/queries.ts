import type { Queryable, Statement } from '../kit/db.ts';
import { rowsBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { statementForMany, typedRow } from '../kit/many-rows.ts';
import { sweepBy } from '../kit/sweep.ts';
import { placeholders } from '../kit/placeholders.ts';
import type { Account, AccountKey, AccountKind, MerchantCurrency } from './accounts.ts';
import type { HoldSource, Part, Movement, Posting } from './posting.ts';

/** The serving role may insert and read movements, nothing else. */
export function insertMovements(posting: Posting, movements: readonly (Movement & { id: string })[]): Statement {
  const columns = 10;
  return {
    name: `ledger_movements_insert_${movements.length}`,
    text: `INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow,
             source_type, source_id, created_at) VALUES ${placeholders(movements.length, columns)}`,
    values: movements.flatMap((movement) => [
      posting.merchantId,
      movement.id,
      movement.debit,
      movement.credit,
      movement.amountMinor,
      posting.currency,
      movement.flow ?? posting.flow,
      posting.source.type,
      posting.source.id,
      posting.at,
    ]),
    ...(movements[0] && { rowKey: movements[0].id }),
  };
}

export function insertDeltas(
  posting: Posting,
  deltas: readonly { account: Account; id: string; amountMinor: bigint }[],
): Statement {
  return {
    name: `ledger_deltas_insert_${deltas.length}`,
    text: `INSERT INTO ledger_deltas (merchant_id, account, currency, id, amount)
           VALUES ${placeholders(deltas.length, 5)}`,
    values: deltas.flatMap((delta) => [
      posting.merchantId,
      delta.account,
      posting.currency,
      delta.id,
      delta.amountMinor,
    ]),
    ...(deltas[0] && { rowKey: deltas[0].id }),
  };
}

/** Creates the account unless it exists, so that there is a row to lock. */
export const ensureAccount = statementBy<[account: AccountKey & { kind: AccountKind }]>({
  name: 'ledger_accounts_ensure',
  text: `INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance) VALUES ($1, $2, $3, $4, 0)
         ON CONFLICT (merchant_id, account, currency) DO NOTHING`,
  values: (account) => [account.merchantId, account.account, account.currency, account.kind],
});

/** Spends from the account, and folds, happen one after the other. Undefined where the account has no row yet. */
export const lockAccount = valueBy<bigint | undefined, [key: AccountKey]>({
  name: 'ledger_accounts_lock',
  text: `SELECT balance AS value FROM ledger_accounts
         WHERE merchant_id = $1 AND account = $2 AND currency = $3 FOR UPDATE`,
  values: (key) => [key.merchantId, key.account, key.currency],
  none: undefined,
});

/** Deletes the deltas that this statement sees and returns their sum. Only under the account's lock. */
export async function deleteDeltas(db: Queryable, key: AccountKey): Promise<bigint> {
  const row = await db.row<{ sum: string | null }>({
    name: 'ledger_deltas_delete',
    text: `WITH folded AS (
             DELETE FROM ledger_deltas WHERE merchant_id = $1 AND account = $2 AND currency = $3 RETURNING amount
           )
           SELECT sum(amount)::text AS sum FROM folded`,
    values: [key.merchantId, key.account, key.currency],
  });
  return BigInt(row?.sum ?? '0');
}

/** The table's CHECK refuses a balance below zero for a guarded account. */
export function updateBalance(key: AccountKey, changeMinor: bigint): Statement {
  return {
    name: 'ledger_accounts_update_balance',
    text: `UPDATE ledger_accounts SET balance = balance + $4
           WHERE merchant_id = $1 AND account = $2 AND currency = $3`,
    values: [key.merchantId, key.account, key.currency, changeMinor],
    adds: 3,
  };
}

/** One hold for each source. */
export function insertHold(held: HoldSource, hold: { id: string; amountMinor: bigint }): Statement {
  return {
    name: 'ledger_holds_insert',
    text: `INSERT INTO ledger_holds (merchant_id, id, status, amount, currency, source_type, source_id, created_at)
           VALUES ($1, $2, 'open', $3, $4, $5, $6, $7)`,
    values: [held.merchantId, hold.id, hold.amountMinor, held.currency, held.source.type, held.source.id, held.at],
    rowKey: hold.id,
  };
}

/** Closes an open hold and returns its amount; undefined when there is none, so that nothing is paid out twice. */
export async function closeHold(
  db: Queryable,
  held: HoldSource,
  status: 'settled' | 'released',
): Promise<bigint | undefined> {
  const row = await db.row<{ amountMinor: bigint }>(
    statementForMany({
      name: 'ledger_holds_close',
      text: (rows) => `UPDATE ledger_holds SET status = closed.status, closed_at = closed.closed_at
           FROM (VALUES ${rows}) AS closed (source_type, source_id, status, closed_at)
           WHERE ledger_holds.merchant_id = $1 AND ledger_holds.source_type = closed.source_type
             AND ledger_holds.source_id = closed.source_id AND ledger_holds.status = 'open'
           RETURNING amount AS "amountMinor", ledger_holds.source_type || ' ' || ledger_holds.source_id AS key`,
      parameters: typedRow(2, ['text', 'uuid', 'text', 'timestamptz']),
      values: [held.merchantId, held.source.type, held.source.id, status, held.at],
      sharedValues: 1,
      ...{ column: 'key', key: `${held.source.type} ${held.source.id}` },
    }),
  );
  return row?.amountMinor;
}

/** Every movement of a source, oldest first. */
export const listMovementsOfSource = rowsBy<
  { flow: string; debit: Account; credit: Account; amountMinor: bigint; createdAt: Date },
  [Pick<Posting, 'merchantId' | 'source'>]
>({
  name: 'ledger_movements_of_source',
  text: `SELECT flow, debit_account AS debit, credit_account AS credit, amount AS "amountMinor", created_at AS "createdAt"
         FROM ledger_movements WHERE merchant_id = $1 AND source_type = $2 AND source_id = $3
         ORDER BY id`,
  values: ({ merchantId, source }) => [merchantId, source.type, source.id],
});

/** The accounts that a hold debited, with their amounts. */
export const listHeldFrom = rowsBy<Part, [HoldSource]>({
  name: 'ledger_movements_held_from',
  text: `SELECT debit_account AS account, amount AS "amountMinor" FROM ledger_movements
         WHERE merchant_id = $1 AND source_type = $2 AND source_id = $3 AND flow = 'held'
         ORDER BY id`,
  values: ({ merchantId, source }) => [merchantId, source.type, source.id],
});

/** Stored balances and deltas in one snapshot, without accounts that have no movement. */
export const sumBalances = rowsBy<
  { account: Account; balance: string },
  [query: MerchantCurrency & { accounts: readonly Account[] }]
>({
  name: 'ledger_balances',
  text: `SELECT account, sum(amount)::text AS balance FROM (
           SELECT account, balance AS amount FROM ledger_accounts
           WHERE merchant_id = $1 AND currency = $2 AND account = ANY ($3::text[])
           UNION ALL
           SELECT account, amount FROM ledger_deltas
           WHERE merchant_id = $1 AND currency = $2 AND account = ANY ($3::text[])
         ) AS parts GROUP BY account`,
  values: (query) => [query.merchantId, query.currency, query.accounts],
});

/** The balance of `suspense`, of all merchants together. */
export const sumSuspense = rowsBy<{ currency: string; amountMinor: bigint }, []>({
  name: 'ledger_sum_suspense',
  text: `-- across merchants: the operator watches all of them
         SELECT currency, sum(amount)::bigint AS "amountMinor" FROM (
           SELECT currency, balance AS amount FROM ledger_accounts WHERE account = 'suspense'
           UNION ALL
           SELECT currency, amount FROM ledger_deltas WHERE account = 'suspense'
         ) AS parts GROUP BY currency`,
});

/** Accounts with more unfolded deltas than `deltasMin`. Regular folding keeps the table short. */
export const listAccountsToFold = sweepBy<AccountKey, [deltasMin: number, rowsMax: number]>({
  name: 'ledger_accounts_to_fold',
  text: `-- across merchants: the worker folds everybody's
         SELECT ledger_deltas.merchant_id AS "merchantId", account, currency
         FROM merchant_places JOIN ledger_deltas ON ledger_deltas.merchant_id = merchant_places.merchant_id
         GROUP BY ledger_deltas.merchant_id, account, currency HAVING count(*) > $1 LIMIT $2`,
});

/** One account's stored balance, and its balance by its movements; sums in bututs as text. */
export interface LedgerRow {
  merchantId: string;
  account: string;
  currency: string;
  kind: string;
  stored: string;
  moved: string;
  /** The open holds, on the account `held`. */
  open: string;
  movements: string;
}

/** Every account of every merchant in one snapshot: stored balance, balance by movements, open holds. */
export const listLedgerRows = rowsBy<LedgerRow, [debitKinds: readonly string[]]>({
  name: 'ledger_verify',
  text: `-- across merchants: the verification reads the whole ledger
    SELECT merchant_id AS "merchantId", account, currency, split_part(account, ':', 1) AS kind,
           sum(stored)::text AS stored,
           sum(CASE WHEN split_part(account, ':', 1) = ANY ($1::text[]) THEN debits - credits
                    ELSE credits - debits END)::text AS moved,
           sum(open)::text AS open, sum(movements)::text AS movements
    FROM (
      SELECT merchant_id, debit_account AS account, currency, sum(amount) AS debits, 0 AS credits, count(*) AS movements,
             0 AS stored, 0 AS open
      FROM ledger_movements GROUP BY 1, 2, 3
      UNION ALL
      SELECT merchant_id, credit_account, currency, 0, sum(amount), count(*), 0, 0 FROM ledger_movements GROUP BY 1, 2, 3
      UNION ALL
      SELECT merchant_id, account, currency, 0, 0, 0, balance, 0 FROM ledger_accounts
      UNION ALL
      SELECT merchant_id, account, currency, 0, 0, 0, sum(amount), 0 FROM ledger_deltas GROUP BY 1, 2, 3
      UNION ALL
      SELECT merchant_id, 'held', currency, 0, 0, 0, 0, sum(amount) FROM ledger_holds WHERE status = 'open' GROUP BY 1, 3
    ) AS parts
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
});

/** The net effect of several sources together on each account: credited less debited, in bututs; never 0. */
export const sumBySources = rowsBy<
  { account: Account; netEffect: string },
  [query: MerchantCurrency & { sourceIds: readonly string[] }]
>({
  name: 'ledger_movements_sum_by_sources',
  text: `WITH sides AS (
           SELECT credit_account AS account, amount FROM ledger_movements
           WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
           UNION ALL
           SELECT debit_account, -amount FROM ledger_movements
           WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
         )
         SELECT account, sum(amount)::text AS "netEffect" FROM sides GROUP BY account HAVING sum(amount) <> 0`,
  values: (query) => [query.merchantId, query.currency, query.sourceIds],
});

/** What the transaction itself has booked for a merchant; `sinceId` is an id from before it, which bounds what is read. */
export const listMovementsOfTransaction = rowsBy<
  { debit: Account; credit: Account; amountMinor: bigint },
  [{ merchantId: string; sinceId: string }]
>({
  name: 'ledger_movements_of_transaction',
  text: `SELECT debit_account AS debit, credit_account AS credit, amount AS "amountMinor" FROM ledger_movements
          WHERE merchant_id = $1 AND id > $2 AND xmin = pg_current_xact_id()::xid ORDER BY id`,
  values: ({ merchantId, sinceId }) => [merchantId, sinceId],
});
