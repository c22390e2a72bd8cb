import { completeWork, completeWorkWith, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import { partsOf, receivedMinor, reserveMinor } from '../payments/charge.ts';
import type { Charge } from '../payments/charge.ts';
import { lockPayment } from '../payments/change-payment.ts';
import type { LockedPayment } from '../payments/change-payment.ts';
import type { Intent } from '../payments/intent.ts';
import { waitingOf } from '../payments/waiting-money.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { pendingAccount, settledOf, subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { findChargeToSettle, listRefundsOfCharge, markSettled } from './queries.ts';

const hourMs = 60 * 60 * 1_000;

/** A worker's job: what a charge has waiting becomes spendable. */
export async function settleChargeWork(context: TransferContext, work: Work): Promise<void> {
  const { merchantId, subjectId } = work;
  const charge = await findChargeToSettle(context.db, merchantId, subjectId);
  const merchant = charge && (await context.merchants.byId(merchantId));
  if (!merchant) return completeWork(context.db, work);
  const again = await context.db.withTransaction(async (tx) => {
    const payment = await lockPayment(tx, merchant, charge);
    const settled = await settleCharge(tx, context, payment);
    if (settled === 'settled') completeWorkWith(tx, work);
    return { settled, reservedUntil: payment.charge.settlesAt };
  });
  if (again.settled === 'settled') return;
  // What a refund under way holds of it may still come back to where it waited.
  const inAnHour = addMs(context.clock.now(), hourMs);
  const dueAt = again.settled === 'reserved' ? (again.reservedUntil ?? inAnHour) : inAnHour;
  await postponeWork(context.db, work, dueAt);
}

/**
 * Moves what this charge still has waiting, merchant and sub-accounts each their part, and no other charge's: all of it, or
 * what is not kept in reserve while the reserve's time runs. Done again it finds nothing. The payment is locked, so no
 * refund or reversal of it comes between. A sub-account that owes repays from what becomes its own to spend.
 */
export async function settleCharge(
  tx: Transaction,
  context: TransferContext,
  { charge, intent }: LockedPayment,
): Promise<'settled' | 'reserved' | 'refund_open'> {
  const { merchantId, id, currency } = charge;
  const at = { merchantId, currency };
  const now = context.clock.now();
  const isReserved = charge.settlesAt !== null && now < charge.settlesAt;
  const refunds = await listRefundsOfCharge(tx, merchantId, id);
  const waiting = await waitingOf(
    tx,
    charge,
    refunds.map((refund) => refund.id),
  );
  const reserved = isReserved ? reservesOf(charge, intent, waiting) : new Map<Account, bigint>();
  const accounts = [...waiting.keys()];
  const debts = await debtAccounts(
    tx,
    at,
    accounts.map(subAccountOn).filter((subAccount) => subAccount !== null),
  );
  const balances = await lockBalances(tx, at, [...accounts, ...debts]);
  const settled = [...waiting].map(([account, minor]) => {
    // A reversal may have taken from what other payments had waiting.
    const has = least(balances.get(account) ?? 0n, minor);
    const amountMinor = has - least(has, reserved.get(account) ?? 0n);
    return { from: account, account: settledOf(account) ?? account, amountMinor };
  });
  const movements = [
    ...settled.map(({ from, account, amountMinor }): Movement => ({ debit: from, credit: account, amountMinor })),
    ...repayments(balances, settled),
  ];
  await post(tx, context, { ...at, flow: 'settled', source: { type: 'charge', id }, movements, at: now });
  if (isReserved) return 'reserved';
  tx.send(markSettled({ merchantId, id }, now));
  return refunds.some(({ isOpen }) => isOpen) ? 'refund_open' : 'settled';
}

/**
 * What is kept in reserve of each party's part, by the account where it waits. What a share has repaid waits with the
 * merchant, and so does its reserve.
 */
function reservesOf(
  charge: Charge,
  { shares }: Intent,
  waiting: ReadonlyMap<Account, bigint>,
): ReadonlyMap<Account, bigint> {
  const parts = partsOf(charge, shares, receivedMinor(charge));
  let ofMerchant = reserveMinor(charge, parts.merchantMinor);
  const reserves = new Map<Account, bigint>();
  for (const { subAccountId, amountMinor } of parts.shares) {
    const account = pendingAccount(subAccountId);
    const reserve = reserveMinor(charge, amountMinor);
    const own = least(waiting.get(account) ?? 0n, reserve);
    reserves.set(account, own);
    ofMerchant += reserve - own;
  }
  return reserves.set('payable_pending', ofMerchant);
}
