import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part } from '../ledger/hold.ts';
import { lockBalances } from '../ledger/post.ts';
import type { Movement } from '../ledger/post.ts';
import { pendingAccount, settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { isSettled } from './charge.ts';
import type { Charge, ChargeParts } from './charge.ts';

/** Where money comes from that a charge has to give back, for a refund or to a network that reverses it. */
export interface TakenBack {
  from: Part[];
  /** What sub-accounts no longer have and the merchant gives in their place; their later shares repay it. */
  advanced: { subAccountId: string; amountMinor: bigint }[];
  /** What not even the merchant has. */
  shortfallMinor: bigint;
}

/**
 * Takes each its part: fees, shares, and the rest from the merchant, who advances what a sub-account no longer has. The
 * accounts are locked; nothing is booked yet.
 */
export async function planTakeBack(tx: Transaction, charge: Charge, parts: ChargeParts): Promise<TakenBack> {
  const { merchantId, currency } = charge;
  const subAccountOf = isSettled(charge) ? settledAccount : pendingAccount;
  // What has not been settled is the charge's own money; what is missing there was spent from what is.
  const merchantAccounts: Account[] = isSettled(charge)
    ? ['payable_available']
    : ['payable_pending', 'payable_available'];
  const shareAccounts = parts.shares.map(({ subAccountId }) => subAccountOf(subAccountId));
  const balances = await lockBalances(tx, { merchantId, currency }, ['fees', ...shareAccounts, ...merchantAccounts]);
  const from: Part[] = [];
  const take = (account: Account, wantedMinor: bigint): bigint => {
    const has = balances.get(account) ?? 0n;
    const amountMinor = has < wantedMinor ? has : wantedMinor;
    balances.set(account, has - amountMinor);
    if (amountMinor > 0n) from.push({ account, amountMinor });
    return wantedMinor - amountMinor;
  };
  let shortfallMinor = parts.merchantMinor + take('fees', parts.feeMinor);
  const advanced: TakenBack['advanced'] = [];
  for (const { subAccountId, amountMinor } of parts.shares) {
    const missing = take(subAccountOf(subAccountId), amountMinor);
    if (missing > 0n) advanced.push({ subAccountId, amountMinor: missing });
    shortfallMinor += missing;
  }
  for (const account of merchantAccounts) shortfallMinor = take(account, shortfallMinor);
  return { from, advanced, shortfallMinor };
}

/** What sub-accounts owe the merchant from now on; the pair is undone as their later shares repay it. */
export function advanceMovements(advanced: TakenBack['advanced']): Movement[] {
  return advanced.map(({ subAccountId, amountMinor }) => ({
    debit: `sub_owed:${subAccountId}`,
    credit: 'due_from_subs',
    amountMinor,
  }));
}
