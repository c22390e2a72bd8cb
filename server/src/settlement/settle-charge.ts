import { completeWork, completeWorkWith, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/post.ts';
import { standingOf } from '../ledger/standing.ts';
import { lockPayment } from '../payments/charge-outcome.ts';
import type { LockedPayment } from '../payments/charge-outcome.ts';
import { settledOf } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { findChargeToSettle, listRefundsOfCharge, markSettled } from './queries.ts';

const hourMs = 60 * 60 * 1_000;

/** A worker's job: what a charge has waiting becomes spendable. */
export async function settleChargeWork(context: TransferContext, work: Work): Promise<void> {
  const { merchantId, subjectId } = work;
  const charge = await findChargeToSettle(context.db, merchantId, subjectId);
  const merchant = charge && (await context.merchants.byId(merchantId));
  if (!merchant) return completeWork(context.db, work);
  const isDone = await context.db.withTransaction(async (tx) => {
    const settled = await settleCharge(tx, context, await lockPayment(tx, merchant, charge));
    if (settled === 'settled') completeWorkWith(tx, work);
    return settled === 'settled';
  });
  // What a refund under way holds of it may still come back to where it waited.
  if (!isDone) await postponeWork(context.db, work, addMs(context.clock.now(), hourMs));
}

/**
 * Moves what this charge still has waiting, merchant and sub-accounts each their part, and no other charge's. Done again
 * it finds nothing. The payment is locked, so no refund or reversal of it comes between.
 */
export async function settleCharge(
  tx: Transaction,
  context: TransferContext,
  { charge }: LockedPayment,
): Promise<'settled' | 'refund_open'> {
  const { merchantId, id, currency } = charge;
  const now = context.clock.now();
  const refunds = await listRefundsOfCharge(tx, merchantId, id);
  const sourceIds = [id, ...refunds.map((refund) => refund.id)];
  const standing = await standingOf(tx, { merchantId, currency, sourceIds });
  const waiting = [...standing].flatMap(([account, minor]) => {
    const to = settledOf(account);
    return to !== null && minor > 0n ? [{ account, to, minor }] : [];
  });
  const at = { merchantId, currency };
  const balances = await lockBalances(
    tx,
    at,
    waiting.map(({ account }) => account),
  );
  const movements = waiting.map(({ account, to, minor }): Movement => {
    // A reversal may have taken from what other payments had waiting.
    const has = balances.get(account) ?? 0n;
    return { debit: account, credit: to, amountMinor: has < minor ? has : minor };
  });
  await post(tx, context, { ...at, flow: 'settled', source: { type: 'charge', id }, movements, at: now });
  tx.send(markSettled({ merchantId, id }, now));
  return refunds.some(({ isOpen }) => isOpen) ? 'refund_open' : 'settled';
}
