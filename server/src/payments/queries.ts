import type { Queryable, Statement } from '../kit/db.ts';
import type { Page } from '../kit/list-clause.ts';
import type { NetworkHandles, NextAction } from '../networks/contract.ts';
import type { Charge, ChargeProgress, ChargeStatus } from './charge.ts';
import type { Intent, IntentStatus } from './intent.ts';
import { chargeFilterClause, intentFilterClause } from './list-filters.ts';
import type { ChargeFilter, IntentFilter } from './list-filters.ts';

/** The split of an intent that is shared; for others nothing is looked for. */
const sharesColumn = `CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = payment_intents.merchant_id AND intent_shares.intent_id = payment_intents.id
  ) END`;

const intentColumns = `payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", ${sharesColumn} AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt"`;

const chargeColumns = `charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt"`;

/** A row as it is read: the shares' numbers come as text, so that none is a float. */
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
             metadata, source, attempts, late, review, event_sequence, created_at, updated_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $23, $24, $25, $26, $27, $28, $28, $29)`,
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
      intent.attempts,
      intent.late,
      intent.review,
      intent.eventSequence,
      intent.createdAt,
      intent.expiresAt,
    ],
  };
}

/** The split of an intent, in its order. */
export function insertIntentShares({ merchantId, id, shares }: Intent): Statement {
  const columns = 6;
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(', ')})`;
  return {
    name: `intent_shares_insert_${shares.length}`,
    text: `INSERT INTO intent_shares (merchant_id, intent_id, position, sub_account_id, percent_hundredths, amount)
           VALUES ${shares.map((_share, index) => row(index)).join(', ')}`,
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

/** Held until the transaction ends: every change of an intent or of one of its charges waits here first. */
export function lockIntent(db: Queryable, merchantId: string, id: string): Promise<Intent | undefined> {
  return intentRow(db, {
    name: 'payment_intents_lock',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id = $2 FOR UPDATE`,
    values: [merchantId, id],
  });
}

/** Guarded by the status it leaves: touches nothing when the intent has moved on. */
export function updateIntent(
  db: Queryable,
  from: IntentStatus,
  to: Pick<Intent, 'merchantId' | 'id' | 'status' | 'attempts' | 'late' | 'review' | 'eventSequence' | 'updatedAt'>,
): Promise<number> {
  return db.run({
    name: 'payment_intents_update',
    text: `UPDATE payment_intents
           SET status = $4, attempts = $5, late = $6, review = $7, event_sequence = $8, updated_at = $9
           WHERE merchant_id = $1 AND id = $2 AND status = $3`,
    values: [to.merchantId, to.id, from, to.status, to.attempts, to.late, to.review, to.eventSequence, to.updatedAt],
  });
}

/** Newest first: ids of version 7 count up with time, so the primary key is the order. */
export function listIntents(db: Queryable, merchantId: string, filter: IntentFilter, page: Page): Promise<Intent[]> {
  const clause = intentFilterClause(filter, page.before);
  return intentRows(db, {
    name: `payment_intents_list_${clause.name}`,
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 ${clause.text}
           ORDER BY id DESC LIMIT $${clause.values.length + 2} OFFSET $${clause.values.length + 3}`,
    values: [merchantId, ...clause.values, page.rowsMax, page.offset],
  });
}

/** Counts up to `countMax`, so that a long list costs no more than that. */
export async function countIntents(
  db: Queryable,
  merchantId: string,
  filter: IntentFilter,
  countMax: number,
): Promise<number> {
  const clause = intentFilterClause(filter, null);
  const row = await db.row<{ count: bigint }>({
    name: `payment_intents_count_${clause.name}`,
    text: `SELECT count(*) AS count FROM (
             SELECT 1 FROM payment_intents WHERE merchant_id = $1 ${clause.text} LIMIT $${clause.values.length + 2}
           ) AS counted`,
    values: [merchantId, ...clause.values, countMax],
  });
  return Number(row?.count ?? 0n);
}

/** Open intents whose time has passed, oldest first; those under review wait for a person. */
export function listIntentsToExpire(
  db: Queryable,
  now: Date,
  rowsMax: number,
): Promise<{ merchantId: string; id: string }[]> {
  return db.rows({
    name: 'payment_intents_to_expire',
    text: `-- across merchants: the sweep looks for whoever has an intent to expire
           SELECT payment_intents.merchant_id AS "merchantId", payment_intents.id
           FROM merchants CROSS JOIN LATERAL (
             SELECT merchant_id, id FROM payment_intents
             WHERE merchant_id = merchants.id AND status IN ('requires_payment_method', 'processing')
               AND expires_at <= $1 AND review IS NULL
             ORDER BY expires_at LIMIT $2
           ) AS payment_intents`,
    values: [now, rowsMax],
  });
}

export function insertCharge(charge: Charge): Statement {
  return {
    name: 'charges_insert',
    text: `INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid,
             currency, network, account_number, account_canonical, reference, transaction_reference, progress, late,
             amount_refunded, event_sequence, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20)`,
    values: [
      charge.merchantId,
      charge.id,
      charge.intentId,
      charge.attempt,
      charge.status,
      charge.amountMinor,
      charge.feeMinor,
      charge.feePayer,
      charge.amountPaidMinor,
      charge.currency,
      charge.network,
      charge.accountNumber,
      charge.accountCanonical,
      charge.reference,
      charge.transactionReference,
      charge.progress,
      charge.late,
      charge.amountRefundedMinor,
      charge.eventSequence,
      charge.createdAt,
    ],
  };
}

export function findChargeById(db: Queryable, merchantId: string, id: string): Promise<Charge | undefined> {
  return db.row<Charge>({
    name: 'charges_find_by_id',
    text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND id = $2`,
    values: [merchantId, id],
  });
}

export function findChargeByReference(
  db: Queryable,
  merchantId: string,
  reference: string,
): Promise<Charge | undefined> {
  return db.row<Charge>({
    name: 'charges_find_by_reference',
    text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND reference = $2`,
    values: [merchantId, reference],
  });
}

export function listChargesOfIntent(db: Queryable, merchantId: string, intentId: string): Promise<Charge[]> {
  return db.rows<Charge>({
    name: 'charges_list_of_intent',
    text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND intent_id = $2 ORDER BY attempt`,
    values: [merchantId, intentId],
  });
}

export function findLatestCharge(db: Queryable, merchantId: string, intentId: string): Promise<Charge | undefined> {
  return db.row<Charge>({
    name: 'charges_find_latest',
    text: `SELECT ${chargeColumns} FROM charges WHERE merchant_id = $1 AND intent_id = $2
           ORDER BY attempt DESC LIMIT 1`,
    values: [merchantId, intentId],
  });
}

/** The charge as it ends or waits, guarded by the status it leaves. */
export function updateChargeOutcome(db: Queryable, from: ChargeStatus, to: Charge): Promise<number> {
  return db.run({
    name: 'charges_update_outcome',
    text: `UPDATE charges
           SET status = $4, progress = $5, next_action = $6, network_reference = $7, network_transaction_id = $8,
               failure_code = $9, failure_reason = $10, review = $11, late = $12, event_sequence = $13, paid_at = $14,
               updated_at = $15, amount_received = $16, settles_at = $17
           WHERE merchant_id = $1 AND id = $2 AND status = $3`,
    values: [
      to.merchantId,
      to.id,
      from,
      to.status,
      to.progress,
      jsonOrNull(to.nextAction),
      to.networkReference,
      to.networkTransactionId,
      to.failureCode,
      to.failureReason,
      to.review,
      to.late,
      to.eventSequence,
      to.paidAt,
      to.updatedAt,
      to.amountReceivedMinor,
      to.settlesAt,
    ],
  });
}

/** A pending charge on its way; a late answer to an early call never overwrites an end. */
export function updateChargeProgress(
  db: Queryable,
  from: readonly ChargeProgress[],
  to: {
    merchantId: string;
    id: string;
    progress: ChargeProgress;
    nextAction: NextAction | null;
    networkReference: string | null;
    handles: NetworkHandles | null;
    updatedAt: Date;
  },
): Promise<number> {
  return db.run({
    name: 'charges_update_progress',
    text: `UPDATE charges
           SET progress = $4, next_action = $5, network_reference = COALESCE($6, network_reference),
               network_handles = COALESCE($7, network_handles), updated_at = $8
           WHERE merchant_id = $1 AND id = $2 AND status = 'pending' AND progress = ANY ($3::text[])`,
    values: [
      to.merchantId,
      to.id,
      [...from],
      to.progress,
      jsonOrNull(to.nextAction),
      to.networkReference,
      jsonOrNull(to.handles),
      to.updatedAt,
    ],
  });
}

/** The newest charges that match, with their intents' ids; order and limits as for intents. */
export function listCharges(db: Queryable, merchantId: string, filter: ChargeFilter, page: Page): Promise<Charge[]> {
  const clause = chargeFilterClause(filter, page.before);
  return db.rows<Charge>({
    name: `charges_list_${clause.name}`,
    text: `SELECT ${chargeColumns} FROM charges WHERE charges.merchant_id = $1 ${clause.text}
           ORDER BY charges.id DESC LIMIT $${clause.values.length + 2} OFFSET $${clause.values.length + 3}`,
    values: [merchantId, ...clause.values, page.rowsMax, page.offset],
  });
}

export async function countCharges(
  db: Queryable,
  merchantId: string,
  filter: ChargeFilter,
  countMax: number,
): Promise<number> {
  const clause = chargeFilterClause(filter, null);
  const row = await db.row<{ count: bigint }>({
    name: `charges_count_${clause.name}`,
    text: `SELECT count(*) AS count FROM (
             SELECT 1 FROM charges WHERE charges.merchant_id = $1 ${clause.text} LIMIT $${clause.values.length + 2}
           ) AS counted`,
    values: [merchantId, ...clause.values, countMax],
  });
  return Number(row?.count ?? 0n);
}

export function listIntentsByIds(db: Queryable, merchantId: string, ids: readonly string[]): Promise<Intent[]> {
  return intentRows(db, {
    name: 'payment_intents_list_by_ids',
    text: `SELECT ${intentColumns} FROM payment_intents WHERE merchant_id = $1 AND id = ANY ($2::uuid[])`,
    values: [merchantId, [...ids]],
  });
}

export interface ChargeNote {
  merchantId: string;
  chargeId: string;
  id: string;
  kind: string;
  detail: string;
  createdAt: Date;
}

export function insertChargeNote(note: ChargeNote): Statement {
  return {
    name: 'charge_notes_insert',
    text: `INSERT INTO charge_notes (merchant_id, charge_id, id, kind, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [note.merchantId, note.chargeId, note.id, note.kind, note.detail, note.createdAt],
  };
}

export async function findLastNoteTime(
  db: Queryable,
  charge: { merchantId: string; id: string },
  kind: string,
): Promise<Date | undefined> {
  const row = await db.row<{ createdAt: Date }>({
    name: 'charge_notes_find_last',
    text: `SELECT created_at AS "createdAt" FROM charge_notes
           WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 ORDER BY id DESC LIMIT 1`,
    values: [charge.merchantId, charge.id, kind],
  });
  return row?.createdAt;
}

/** The newest ones: a charge has a handful, and one with more is best told from its end. */
export function listNotesOfCharges(
  db: Queryable,
  merchantId: string,
  chargeIds: readonly string[],
): Promise<ChargeNote[]> {
  return db.rows<ChargeNote>({
    name: 'charge_notes_list',
    text: `SELECT merchant_id AS "merchantId", charge_id AS "chargeId", id, kind, detail, created_at AS "createdAt"
           FROM charge_notes WHERE merchant_id = $1 AND charge_id = ANY ($2::uuid[]) ORDER BY id DESC LIMIT 500`,
    values: [merchantId, [...chargeIds]],
  });
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
