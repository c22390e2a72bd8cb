import type { Account } from '../ledger/accounts.ts';
import type { Queryable } from '../kit/db.ts';
import { finderOf } from '../api/find-record.ts';
import { countBy, idsBy, isFoundBy, rowBy, rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import { sweptIdsBy } from '../kit/sweep.ts';
import type { Transfer } from '../transfers/transfer.ts';

/** What a payout needs of a sub-account. */
export interface Beneficiary {
  id: string;
  name: string;
  /** The network of the payout. */
  settlementCode: string;
  accountNumber: string;
  accountCanonical: string;
  destinationChangedAt: Date | null;
}

/** In the order of their ids, locked against deletion until the transaction ends; payments and changes do not wait. */
export const lockBeneficiaries = rowsBy<Beneficiary, [merchantId: string, ids: readonly string[]]>({
  name: 'settlement_lock_beneficiaries',
  text: `SELECT id, name, settlement_code AS "settlementCode", account_number AS "accountNumber",
           account_canonical AS "accountCanonical", destination_changed_at AS "destinationChangedAt"
         FROM sub_accounts WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL
         ORDER BY id FOR KEY SHARE`,
});

/** Whether the merchant has or had such a sub-account. */
export const subAccountExisted = isFoundBy<[merchantId: string, id: string]>({
  name: 'settlement_knows_sub_account',
  text: 'SELECT id FROM sub_accounts WHERE merchant_id = $1 AND id = $2',
});

/** The result of a period for a sub-account: its payout, or the error code of its refusal. */
export type SettledPeriod = { subAccountId: string } & (
  | { transferId: string; refusal: null }
  | { transferId: null; refusal: string }
);

/**
 * Claims the period for these sub-accounts, in the transaction that creates their payouts. Of concurrent claims one wins:
 * only the returned ids may be paid out. A refused one can be claimed again.
 */
export async function claimPeriods(
  db: Queryable,
  at: { merchantId: string; period: string; now: Date },
  claims: readonly SettledPeriod[],
): Promise<Set<string>> {
  const rows = claims.map((_, index) => `($1, $${3 * index + 4}, $2, $${3 * index + 5}, $${3 * index + 6}, $3)`);
  const claimed = await db.rows<{ id: string }>({
    name: `settlement_periods_claim_${claims.length}`,
    text: `INSERT INTO settlement_periods (merchant_id, sub_account_id, period, transfer_id, refusal, created_at)
           VALUES ${rows.join(', ')}
           ON CONFLICT (merchant_id, sub_account_id, period) DO UPDATE
           SET transfer_id = excluded.transfer_id, refusal = excluded.refusal, created_at = excluded.created_at
             WHERE settlement_periods.transfer_id IS NULL
           RETURNING sub_account_id AS id`,
    values: [
      at.merchantId,
      at.period,
      at.now,
      ...claims.flatMap(({ subAccountId, transferId, refusal }) => [subAccountId, transferId, refusal]),
    ],
  });
  return new Set(claimed.map(({ id }) => id));
}

const isUnsettled = `NOT EXISTS (
  SELECT 1 FROM settlement_periods
  WHERE settlement_periods.merchant_id = $1 AND settlement_periods.sub_account_id = sub_accounts.id
    AND settlement_periods.period = $2 AND (transfer_id IS NOT NULL OR NOT $3::boolean)
)`;

/**
 * Sub-accounts that the period has not paid out, after `after` in the order of their ids; refused ones only with
 * `retriesRefused`.
 */
export const listUnsettled = idsBy<
  [at: { merchantId: string; period: string; retriesRefused: boolean; after: string; rowsMax: number }]
>({
  name: 'settlement_list_unsettled',
  text: `SELECT id FROM sub_accounts
         WHERE merchant_id = $1 AND deleted_at IS NULL AND id > $4 AND ${isUnsettled}
         ORDER BY id LIMIT $5`,
  values: (at) => [at.merchantId, at.period, at.retriesRefused, at.after, at.rowsMax],
});

/** How many sub-accounts `listUnsettled` would list, to show progress. */
export const countUnsettled = countBy<[at: { merchantId: string; period: string; retriesRefused: boolean }]>({
  name: 'settlement_count_unsettled',
  text: `SELECT count(*) AS count FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL AND ${isUnsettled}`,
  values: (at) => [at.merchantId, at.period, at.retriesRefused],
});

/** The merchants whose current period is not done, by their payout schedule. */
export const listMerchantsToSettle = sweptIdsBy<[{ day: string; week: string }]>({
  name: 'settlement_list_merchants',
  text: `-- across merchants: a worker looks for every merchant with a period to settle
         SELECT merchants.id FROM merchant_places JOIN merchants ON merchants.id = merchant_places.merchant_id
         WHERE sub_account_payouts <> 'manual' AND NOT EXISTS (
           SELECT 1 FROM settlement_runs
           WHERE settlement_runs.merchant_id = merchant_places.merchant_id
             AND period = CASE sub_account_payouts WHEN 'daily' THEN $1::date ELSE $2::date END
         )
         ORDER BY merchants.id`,
  values: ({ day, week }) => [day, week],
});

/** Records that a run has visited every sub-account; only the first run of the period does. */
export const insertRunOnce = statementBy<[run: { merchantId: string; period: string; finishedAt: Date }]>({
  name: 'settlement_runs_insert',
  text: `INSERT INTO settlement_runs (merchant_id, period, finished_at) VALUES ($1, $2, $3)
         ON CONFLICT (merchant_id, period) DO NOTHING`,
  values: (run) => [run.merchantId, run.period, run.finishedAt],
});

// A batch of a purge. A constant in the statements, so that every plan walks the index. By ctid, for the
// reason in `http/queries.ts`.
const purgedRowsMax = 500;

/** The merchants of the oldest results of periods before that day, and of the oldest that are done. */
export const listMerchantsWithOldPeriods = idsBy<[before: string]>({
  name: 'settlement_oldest_periods',
  text: `-- across merchants: retention is the same for all of them
         SELECT DISTINCT merchant_id AS id FROM (
           (SELECT merchant_id FROM settlement_periods WHERE period < $1 ORDER BY period LIMIT ${purgedRowsMax})
           UNION ALL
           (SELECT merchant_id FROM settlement_runs WHERE period < $1 ORDER BY period LIMIT ${purgedRowsMax})
         ) AS oldest`,
});

/** Deletes a batch of the results of a merchant's old periods, oldest first. */
export const deletePeriodsBefore = runBy<[merchantId: string, before: string]>({
  name: 'settlement_periods_delete_old',
  text: `DELETE FROM settlement_periods WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
           SELECT ctid FROM settlement_periods WHERE merchant_id = $1 AND period < $2
           ORDER BY period LIMIT ${purgedRowsMax}
         ))`,
});

/** Deletes a batch of a merchant's old periods that are done, oldest first. */
export const deleteRunsBefore = runBy<[merchantId: string, before: string]>({
  name: 'settlement_runs_delete_old',
  text: `DELETE FROM settlement_runs WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
           SELECT ctid FROM settlement_runs WHERE merchant_id = $1 AND period < $2
           ORDER BY period LIMIT ${purgedRowsMax}
         ))`,
});

/** Debts of sub-accounts with a settled balance, of all merchants; both sides folded or not. */
export const listRepayableDebts = rowsBy<{ merchantId: string; account: Account; currency: string }, [rowsMax: number]>(
  {
    name: 'settlement_list_repayable_debts',
    text: `-- across merchants: a worker looks for every debt that can be repaid
         WITH owed AS (
           SELECT merchant_id, account, currency, balance AS amount FROM ledger_accounts
           WHERE kind IN ('receivable_merchant', 'sub_owed') AND kind = 'sub_owed' AND balance > 0
           UNION ALL
           SELECT merchant_id, account, currency, amount FROM ledger_deltas WHERE account LIKE 'sub_owed:%'
         ), debts AS (
           SELECT merchant_id, account, 'sub:' || split_part(account, ':', 2) AS own, currency FROM owed
           GROUP BY merchant_id, account, currency HAVING sum(amount) > 0
         )
         SELECT merchant_id AS "merchantId", account, currency FROM debts
         WHERE (SELECT COALESCE(sum(amount), 0) FROM (
                  SELECT balance AS amount FROM ledger_accounts
                  WHERE merchant_id = debts.merchant_id AND account = debts.own AND currency = debts.currency
                  UNION ALL
                  SELECT amount FROM ledger_deltas
                  WHERE merchant_id = debts.merchant_id AND account = debts.own AND currency = debts.currency
                ) AS settled) > 0
         ORDER BY merchant_id, account LIMIT $1`,
  },
);

// Deletion ------------------------------------------------------------------------------------------------------------

/** An open payment that the sub-account gets a share of. One under review does not expire. */
export async function findOpenIntentOf(
  db: Queryable,
  at: { merchantId: string; subAccountId: string; now: Date },
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>({
    name: 'settlement_find_open_intent',
    text: `SELECT payment_intents.id FROM intent_shares
           JOIN payment_intents
             ON payment_intents.merchant_id = intent_shares.merchant_id AND payment_intents.id = intent_shares.intent_id
           WHERE intent_shares.merchant_id = $1 AND intent_shares.sub_account_id = $2
             AND payment_intents.status IN ('requires_payment_method', 'processing')
             AND (payment_intents.expires_at > $3 OR payment_intents.review IS NOT NULL)
           LIMIT 1`,
    values: [at.merchantId, at.subAccountId, at.now],
  });
  return row?.id;
}

/** A pending payout or refund that holds money of one of the accounts, and may return it. */
export const findTransferFrom = rowBy<{ id: string; kind: string }, [merchantId: string, accounts: readonly string[]]>({
  name: 'settlement_find_transfer_from',
  text: `SELECT transfers.id, transfers.kind FROM ledger_movements
         JOIN transfers
           ON transfers.merchant_id = ledger_movements.merchant_id AND transfers.id = ledger_movements.source_id
         WHERE ledger_movements.merchant_id = $1 AND debit_account = ANY ($2::text[])
           AND debit_account LIKE 'sub:%' AND flow = 'held' AND transfers.status = 'pending'
         LIMIT 1`,
});

/** A payout as the page of its sub-account shows it. Amounts are bututs. */
export type PayoutRow = Pick<
  Transfer,
  'id' | 'status' | 'amountMinor' | 'network' | 'accountNumber' | 'review' | 'waitingFor' | 'createdAt'
>;

/** Newest first. */
export const listPayoutsOf = rowsBy<PayoutRow, [merchantId: string, subAccountId: string, rowsMax: number]>({
  name: 'settlement_list_payouts_of',
  text: `SELECT id, status, amount AS "amountMinor", network, account_number AS "accountNumber",
           review, waiting_for AS "waitingFor", created_at AS "createdAt"
         FROM transfers WHERE merchant_id = $1 AND sub_account_id = $2 AND kind = 'sub_account_payout'
         ORDER BY id DESC LIMIT $3`,
});

// Sources of a statement's lines --------------------------------------------------------------------------------------

/** The payment of a share. */
export interface ChargeOfLine {
  id: string;
  intentId: string;
  reference: string;
  title: string | null;
}

export const listChargesOfLines = rowsBy<ChargeOfLine, [merchantId: string, ids: readonly string[]]>({
  name: 'settlement_list_charges_of_lines',
  text: `SELECT charges.id, intent_id AS "intentId", transaction_reference AS reference, title FROM charges
         JOIN payment_intents
           ON payment_intents.merchant_id = charges.merchant_id AND payment_intents.id = charges.intent_id
         WHERE charges.merchant_id = $1 AND charges.id = ANY ($2::uuid[])`,
});

/** A payout, or the transfer of a refund. */
export interface TransferOfLine {
  id: string;
  kind: string;
  reference: string;
}

export const listTransfersOfLines = rowsBy<TransferOfLine, [merchantId: string, ids: readonly string[]]>({
  name: 'settlement_list_transfers_of_lines',
  text: 'SELECT id, kind, reference FROM transfers WHERE merchant_id = $1 AND id = ANY ($2::uuid[])',
});

// Settlement of charges -----------------------------------------------------------------------------------------------

/** A charge with its payment. */
export const findChargeToSettle = finderOf<{ id: string; intentId: string }>({
  name: 'settlement_find_charge',
  text: 'SELECT id, intent_id AS "intentId" FROM charges WHERE merchant_id = $1 AND id = $2',
});

/** Only a charge that is not settled, so that its settlement time stays. The caller holds its payment's lock. */
export const markSettled = statementBy<[charge: { merchantId: string; id: string }, at: Date]>({
  name: 'settlement_mark_charge_settled',
  text: `UPDATE charges SET settled_at = $3
         WHERE merchant_id = $1 AND id = $2 AND settles_at IS NOT NULL AND settled_at IS NULL`,
  values: (charge, at) => [charge.merchantId, charge.id, at],
});

/** The refunds of a charge, and whether their outcome is still unknown. */
export const listRefundsOfCharge = rowsBy<{ id: string; isOpen: boolean }, [merchantId: string, chargeId: string]>({
  name: 'settlement_list_refunds_of_charge',
  text: `SELECT refunds.id, transfers.status = 'pending' AS "isOpen" FROM refunds
         JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
         WHERE refunds.merchant_id = $1 AND refunds.charge_id = $2`,
});
