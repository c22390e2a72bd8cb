import { completeWork, completeWorkWith, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs, hourMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import { partsOf, receivedMinor, reserveMinor, type Charge } from '../payments/charge.ts';
import { lockPayment, type LockedPayment } from '../payments/change-payment.ts';
import type { Intent } from '../payments/intent.ts';
import { waitingOf } from '../payments/waiting-money.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { pendingAccount, settledOf, subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { findChargeToSettle, listRefundsOfCharge, markSettled } from './queries.ts';

/** A worker's job: settles what a charge has pending. */
export async function settleChargeWork(context: TransferContext, work: Work): Promise<void> {
  const { merchantId, subjectId } = work;
  const charge = await findChargeToSettle(context.db, merchantId, subjectId);
  const merchant = charge && (await context.merchants.byId(merchantId));
  if (!merchant) return completeWork(context.db, work);
  const { outcome, reservedUntil } = await context.db.withTransaction(async (tx) => {
    const payment = await lockPayment(tx, merchant, charge);
    const settled = await settleCharge(tx, context, payment);
    if (settled === 'settled') completeWorkWith(tx, work);
    return { outcome: settled, reservedUntil: payment.charge.settlesAt };
  });
  if (outcome === 'settled') return;
  // A pending refund may still return its money to the pending accounts.
  const inAnHour = addMs(context.clock.now(), hourMs);
  await postponeWork(context.db, work, outcome === 'reserved' ? (reservedUntil ?? inAnHour) : inAnHour);
}

/**
 * Moves what this charge still has pending to the settled accounts of merchant and sub-accounts: all of it, or all but the
 * reserve until the reserve's time. It touches no other charge's money, and repeated it moves nothing. The payment is locked,
 * so a refund or reversal comes before or after. A sub-account in debt repays from what is settled.
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
    // A reversal of another payment may have spent a part of it.
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
 * The reserve of each party's part, by pending account. What a share has repaid is pending for the merchant, and so is its
 * reserve.
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
