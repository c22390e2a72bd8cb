import { closeAgreedCase } from '../cases/close-agreed-case.ts';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { completeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { networkName } from '../networks/known-networks.ts';
import { assignReceipt, findReceiptById, findReceiptByKey } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { settleSuccess } from './apply-success.ts';
import { withLockedPayment, type LockedPayment } from './change-payment.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { notifyOfIntent, type PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import { findPaidBy, lockPaidBy } from './paid-by-transaction.ts';
import { findChargeById } from './queries/charges.ts';
import { extendIntent } from './queries/intents.ts';
import {
  listTypedIdsOfTransaction,
  updateTypedId,
  type TransactionOfAccount,
  type TypedIdRow,
  type TypedIdState,
} from './queries/typed-ids.ts';
import { maskedId, mustBeConfirmed, whyNotPaying } from './typed-id.ts';

// A payment by receipt succeeds by itself where the payer has typed the id of a receipt of the same till and amount, dated after the
// payment was opened. Everything else waits for a person.

/** A receipt has arrived, or was confirmed. */
export async function matchReceiptWork(context: PaymentContext, work: Work): Promise<void> {
  const receipt = await findReceiptById(context.db, work.merchantId, work.subjectId);
  if (receipt) await matchTransaction(context, receipt);
  await completeWork(context.db, work);
}

/**
 * Brings together the receipt of a transaction and the payment for which its id was typed, whichever came first. May be called
 * again at any time, by several processes at once.
 */
export async function matchTransaction(context: PaymentContext, transaction: TransactionOfAccount): Promise<void> {
  const { db } = context;
  const typed = await listTypedIdsOfTransaction(db, transaction);
  const waiting = typed.filter(({ state }) => state === 'waiting');
  if (waiting.length === 0) return;
  const receipt = await findReceiptByKey(db, transaction);
  const paidCharge = receipt ? await findPaidBy(context, receipt) : null;
  const isContested = typed.some(({ state }) => state === 'contested') || waiting.length > 1;
  for (const row of waiting) {
    const charge = await findChargeById(db, row.merchantId, row.chargeId);
    if (!charge) continue;
    if (paidCharge !== null && paidCharge !== row.chargeId) await refuse(context, charge, row, usedReason);
    else if (isContested) await contest(context, charge, row, { reason: typedTwice, opensCase: row !== typed[0] });
    else if (receipt) await tryToPay(context, charge, row, receipt);
  }
}

const usedReason = 'It has paid another payment.';

type Outcome = 'paid' | 'waits' | 'assigned_meanwhile' | { refused: string } | { contested: string };

async function tryToPay(context: PaymentContext, charge: Charge, row: TypedIdRow, receipt: Receipt): Promise<void> {
  const waitsForStatement = await mustBeConfirmed(context.db, receipt);
  const outcome = await withLockedPayment(context, charge, async (tx, locked): Promise<Outcome> => {
    const reason = whyNotPaying(receipt, locked.charge, locked.intent);
    if (reason !== null) return { refused: reason };
    if (locked.intent.status === 'successful') return { contested: paidBefore };
    if (waitsForStatement) return waitForStatement(tx, context, locked, addMs(row.typedAt, statementWaitMs));
    // Another payer may have typed the id meanwhile: then a person decides.
    if ((await updateTypedId(tx, { ...row, state: 'paid' }, ['waiting'])) === 0) return 'waits';
    if (await payByReceipt(tx, context, locked, receipt)) return 'paid';
    await updateTypedId(tx, row, ['paid']);
    return 'assigned_meanwhile';
  });
  // Its new state decides.
  if (outcome === 'assigned_meanwhile') return matchTransaction(context, row);
  if (typeof outcome === 'string') return;
  if ('refused' in outcome) await refuse(context, charge, row, outcome.refused);
  else await contest(context, charge, row, { reason: outcome.contested, opensCase: true });
}

// A statement is imported the next day, and after a weekend.
const statementWaitMs = 7 * dayMs;

/** The payment stays open: the payer has sent the money. */
async function waitForStatement(
  tx: Transaction,
  { clock }: PaymentContext,
  { intent }: LockedPayment,
  expiresAt: Date,
): Promise<Outcome> {
  const now = clock.now();
  if (statusAt(intent, now) === 'processing') await extendIntent(tx, { ...intent, expiresAt, updatedAt: now });
  return 'waits';
}

/**
 * Books the payment. Returns false, and writes nothing, where the receipt was assigned or contradicted meanwhile: a transaction pays
 * once, whichever tills its message was forwarded to.
 */
export async function payByReceipt(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  receipt: Receipt,
): Promise<boolean> {
  const { merchantId, id, railAccount, transactionId, amountMinor, currency, payerNumber } = receipt;
  const assigned = { merchantId, id, chargeId: locked.charge.id, updatedAt: context.clock.now() };
  if ((await lockPaidBy(tx, context, receipt)) !== null || (await assignReceipt(tx, assigned)) === 0) return false;
  const detail = `A receipt of ${formatAmount(amountMinor)} (${maskedId(receipt.transactionKey)}) paid it.`;
  noteCharge(tx, context, locked.charge, 'receipt_matched', detail);
  await settleSuccess(tx, context, locked, {
    ...{ railAccount, networkName: networkName(receipt.network), claimed: true },
    providerTransaction: {
      ...{ transactionId, networkReference: transactionId, amountMinor, currency, payerNumber, networkFeeMinor: 0n },
    },
  });
  return true;
}

async function refuse(context: PaymentContext, charge: Charge, row: TypedIdRow, reason: string): Promise<void> {
  await leaveWaiting(context, charge, row, 'refused', (tx) => {
    noteRefused(tx, context, row, reason);
    return Promise.resolve();
  });
}

function noteRefused(tx: Transaction, context: PaymentContext, row: TypedIdRow, reason: string): void {
  const detail = `The transaction id ${maskedId(row.transactionKey)} does not pay it. ${reason}`;
  noteCharge(tx, context, { merchantId: row.merchantId, id: row.chargeId }, 'transaction_id_refused', detail);
}

/**
 * A person has decided whom a receipt belongs to: the other payments for which its id was typed wait for it no longer, and their
 * cases are closed. Returns those payments' intents, to be notified once the transaction is committed.
 */
export async function refuseOthers(
  tx: Transaction,
  context: PaymentContext,
  { receipt, intentId }: { receipt: Receipt; intentId: string },
): Promise<string[]> {
  const refused: string[] = [];
  for (const row of await listTypedIdsOfTransaction(tx, receipt)) {
    for (const { id, kind, reference, merchantId } of await listCasesOfSubject(tx, row.merchantId, row.chargeId)) {
      if (kind !== 'receipt_contested' || reference !== row.transactionKey) continue;
      await closeAgreedCase(tx, { merchantId, id, resolution: 'acknowledge', resolvedAt: context.clock.now() });
    }
    if (row.intentId === intentId) continue;
    if ((await updateTypedId(tx, { ...row, state: 'refused' }, ['waiting', 'contested'])) === 0) continue;
    noteRefused(tx, context, row, usedReason);
    refused.push(row.intentId);
  }
  return refused;
}

const typedTwice = 'Payers typed this transaction id for two payments.';
const paidBefore = 'A second receipt was typed for a payment that was paid already.';

async function contest(
  context: PaymentContext,
  charge: Charge,
  row: TypedIdRow,
  { reason, opensCase }: { reason: string; opensCase: boolean },
): Promise<void> {
  await leaveWaiting(context, charge, row, 'contested', async (tx) => {
    noteCharge(tx, context, charge, 'held_for_review', `${reason} A person has to look at it.`);
    if (!opensCase) return;
    await openCase(tx, context, {
      ...{ merchantId: charge.merchantId, kind: 'receipt_contested', subjectType: 'charge', subjectId: charge.id },
      ...{ reference: row.transactionKey, amountMinor: charge.amountPaidMinor, currency: charge.currency },
      summary: `${reason} Nothing was booked. The merchant decides which payment the money belongs to.`,
    });
  });
}

async function leaveWaiting(
  context: PaymentContext,
  charge: Charge,
  row: TypedIdRow,
  state: TypedIdState,
  write: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await context.db.withTransaction(async (tx) => {
    if ((await updateTypedId(tx, { ...row, state }, ['waiting'])) > 0) await write(tx);
  });
  notifyOfIntent(context, { merchantId: charge.merchantId, id: charge.intentId });
}
