import type { Queryable, Statement } from '../../kit/db.ts';
import { rowsBy, runBy, statementBy } from '../../kit/run-statement.ts';
import { sweepBy } from '../../kit/sweep.ts';
import { summedListOf, type ListSource } from '../../api/list-reader.ts';
import { rowOfId, statementForMany, typedRow } from '../../kit/many-rows.ts';
import { placeholders } from '../../kit/placeholders.ts';
import type { Intent, IntentStatus } from '../intent.ts';
import { intentConditions } from './list-filters.ts';

/** The split of an intent; intents without one cost no lookup. $1 is the merchant in each statement with it. */
const sharesColumn = `CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END`;

const intentColumns = `payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", ${sharesColumn} AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt"`;

/** A row as read: the numbers of its shares are text, so that none becomes a float. */
type IntentRow = Omit<Intent, 'shares'> & { shares: [string, string, string][] | null };

async function intentRow(db: Queryable, statement: Statement): Promise<Intent | undefined> {
  const row = await db.row<IntentRow>(statement);
  return row && toIntent(row);
}

async function intentRows(db: Queryable, statement: Statement): Promise<Intent[]> {
  return (await db.rows<IntentRow>(statement)).map(toIntent);
}

function toIntent(row: IntentRow): Intent {
  const shares = (row.shares ?? []).map(([subAccountId, percentHundredths, amountMinor]) => ({
    subAccountId,
    percentHundredths: BigInt(percentHundredths),
    amountMinor: BigInt(amountMinor),
  }));
  return { ...row, shares };
}

export function insertIntent(intent: Intent): Statement {
  return {
    name: 'payment_intents_insert',
    text: `INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret,
             checkout_token, return_url, cancel_url, callback_url, title, description, sub_account_id,
             sub_account_group_id, customer_id, customer_name, customer_email, customer_phone, payment_methods,
             metadata, source, payment_link_id, terminal_id, custom_fields_values, attempts, late, review,
             event_sequence, created_at, updated_at, expires_at, form_hash)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $23, $24, $25, $26, $27, $28, $29, $30, $31, $31, $32, $33)`,
    values: [
      intent.merchantId,
      intent.id,
      intent.status,
      intent.amountMinor,
      intent.feeMinor,
      intent.feePayer,
      intent.currency,
      intent.intentSecret,
      intent.checkoutToken,
      intent.returnUrl,
      intent.cancelUrl,
      intent.callbackUrl,
      intent.title,
      intent.description,
      intent.subAccountId,
      intent.subAccountGroupId,
      intent.customerId,
      intent.customerName,
      intent.customerEmail,
      intent.customerPhone,
      intent.paymentMethods,
      JSON.stringify(intent.metadata),
      intent.source,
      intent.paymentLinkId,
      intent.terminalId,
      intent.customFieldsValues === null ? null : JSON.stringify(intent.customFieldsValues),
      intent.attempts,
      intent.late,
      intent.review,
      intent.eventSequence,
      intent.createdAt,
      intent.expiresAt,
      intent.formHash,
    ],
    rowKey: intent.id,
  };
}

/** The split of an intent, in its order. */
export function insertIntentShares({ merchantId, id, shares }: Intent): Statement {
  return {
    name: `intent_shares_insert_${shares.length}`,
    text: `INSERT INTO intent_shares (merchant_id, intent_id, position, sub_account_id, percent_hundredths, amount)
           VALUES ${placeholders(shares.length, 6)}`,
    values: shares.flatMap((share, index) => [
      merchantId,
      id,
      index,
      share.subAccountId,
      share.percentHundredths,
      share.amountMinor,
    ]),
  };
}

export function findIntentById(db: Queryable, merchantId: string, id: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_find_by_id',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id = $2`,
    values: [merchantId, id],
  });
}

export function findIntentBySecret(db: Queryable, merchantId: string, secret: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_find_by_secret',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND intent_secret = $2`,
    values: [merchantId, secret],
  });
}

export function findIntentByToken(db: Queryable, merchantId: string, token: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_find_by_token',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND checkout_token = $2`,
    values: [merchantId, token],
  });
}

/** The only payment of this form: `formHash` is unique for the merchant. */
export function findIntentByFormHash(db: Queryable, merchantId: string, formHash: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_find_by_form_hash',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND form_hash = $2`,
    values: [merchantId, formHash],
  });
}

/** Lets the form create another payment. Guarded by the status: changes no row when the intent has changed. */
export const clearFormHash = statementBy<[intent: Pick<Intent, 'merchantId' | 'id' | 'status'>]>({
  name: 'payment_intents_clear_form_hash',
  text: `UPDATE payment_intents SET form_hash = NULL WHERE merchant_id = $1 AND id = $2 AND status = $3`,
  values: (intent) => [intent.merchantId, intent.id, intent.status],
});

/** Locks the intent until the transaction ends: every change of it or of one of its charges locks it first. */
export function lockIntent(db: Queryable, merchantId: string, id: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_lock',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id = $2 FOR UPDATE`,
    values: [merchantId, id],
    many: {
      text: (ids) => `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id IN (${ids})
           ORDER BY id FOR UPDATE SKIP LOCKED`,
      skipsLocked: true,
      parameters: '$2',
      sharedValues: 1,
      ...rowOfId(id),
    },
  });
}

/** Guarded by the status that it leaves: updates no row when the intent has changed. */
export function updateIntent(
  db: Queryable,
  currentStatus: IntentStatus,
  next: Pick<Intent, 'merchantId' | 'id' | 'status' | 'attempts' | 'late' | 'review' | 'eventSequence' | 'updatedAt'>,
): Promise<number> {
  return db.run(
    statementForMany({
      name: 'payment_intents_update',
      text: (rows) => `UPDATE payment_intents
           SET status = next.status, attempts = next.attempts, late = next.late, review = next.review,
               event_sequence = next.event_sequence, updated_at = next.updated_at,
               unpaid_at = CASE WHEN next.status IN ('failed', 'cancelled', 'expired')
                                THEN COALESCE(unpaid_at, next.updated_at) ELSE unpaid_at END
           FROM (VALUES ${rows}) AS next (id, expected, status, attempts, late, review, event_sequence, updated_at)
           WHERE payment_intents.merchant_id = $1 AND payment_intents.id = next.id
             AND payment_intents.status = next.expected
           RETURNING payment_intents.id`,
      parameters: typedRow(2, ['uuid', 'text', 'text', 'bigint', 'boolean', 'text', 'bigint', 'timestamptz']),
      values: [
        next.merchantId,
        next.id,
        currentStatus,
        next.status,
        next.attempts,
        next.late,
        next.review,
        next.eventSequence,
        next.updatedAt,
      ],
      sharedValues: 1,
      ...rowOfId(next.id),
    }),
  );
}

/**
 * Clears the payer's fields of up to `rowsMax` payments of a customer; returns their ids, fewer when none are left. An array of
 * ids, because the planner may join `IN (SELECT …)` row by row while it takes the table for small: 6,000 payments took 34
 * seconds. By `id`, because a search by `ctid` may skip a row that changes meanwhile.
 */
export const clearPayerOfIntents = rowsBy<
  { id: string },
  [customer: { merchantId: string; id: string }, rowsMax: number]
>({
  name: 'payment_intents_clear_payer',
  text: `UPDATE payment_intents SET customer_name = NULL, customer_email = NULL, customer_phone = NULL
         WHERE merchant_id = $1 AND id = ANY (ARRAY(
           SELECT id FROM payment_intents
           WHERE merchant_id = $1 AND customer_id = $2
             AND (customer_name IS NOT NULL OR customer_email IS NOT NULL OR customer_phone IS NOT NULL)
           ORDER BY id LIMIT $3
         ))
         RETURNING id`,
  values: (customer, rowsMax) => [customer.merchantId, customer.id, rowsMax],
});

const intentList: ListSource<Intent, IntentRow> = {
  name: 'payment_intents',
  select: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1`,
  onlyGrows: true,
  toRow: toIntent,
};

/** What was received for a payment of the list, by every attempt that paid it. */
const paidOfCounted = `(
  SELECT sum(COALESCE(charges.amount_received, charges.amount_paid)) FROM charges
  WHERE charges.merchant_id = $1 AND charges.intent_id = counted.id AND charges.paid_at IS NOT NULL
)`;

/** Newest first; the sum is what was paid. */
export const {
  list: listIntents,
  rows: listIntentRows,
  totals: sumIntents,
} = summedListOf(intentList, paidOfCounted, intentConditions);

/** Open intents whose time has passed and that are not under review, oldest first, up to `rowsMax` of each merchant. */
export const listIntentsToExpire = sweepBy<{ merchantId: string; id: string }, [now: Date, rowsMax: number]>({
  name: 'payment_intents_to_expire',
  text: `-- across merchants: the sweep looks for whoever has an intent to expire
         SELECT payment_intents.merchant_id AS "merchantId", payment_intents.id
         FROM merchant_places CROSS JOIN LATERAL (
           SELECT merchant_id, id FROM payment_intents
           WHERE payment_intents.merchant_id = merchant_places.merchant_id AND status IN ('requires_payment_method', 'processing')
             AND expires_at <= $1 AND review IS NULL
           ORDER BY expires_at LIMIT $2
         ) AS payment_intents`,
});

export function listIntentsByIds(db: Queryable, merchantId: string, ids: readonly string[]): Promise<Intent[]> {
  return intentRows(db, {
    name: 'payment_intents_list_by_ids',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id = ANY ($2::uuid[])`,
    values: [merchantId, [...ids]],
  });
}

/** Lets an intent end later; never earlier. */
export const extendIntent = runBy<[Pick<Intent, 'merchantId' | 'id' | 'expiresAt' | 'updatedAt'>]>({
  name: 'payment_intents_extend',
  text: `UPDATE payment_intents SET expires_at = $3, updated_at = $4 WHERE merchant_id = $1 AND id = $2 AND expires_at < $3`,
  values: ({ merchantId, id, expiresAt, updatedAt }) => [merchantId, id, expiresAt, updatedAt],
});
