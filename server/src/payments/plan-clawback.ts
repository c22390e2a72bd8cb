import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { debtAccount } from '../ledger/debt.ts';
import { lockBalances } from '../ledger/post.ts';
import { lockDeleted } from '../sub-accounts/delete-sub-account.ts';
import { balanceAccounts, owedAccount, pendingAccount, settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { isSettled } from './charge.ts';
import type { Charge, ChargeParts } from './charge.ts';
import { listRefundIds } from './queries/charges.ts';
import { waitingOf } from './waiting-money.ts';

/** Where money comes from that a charge has to give back, for a refund or to a network that reverses it. */
export interface Clawback {
  parts: Part[];
  /** Whose shares give a part; the merchant gives in the place of sub-accounts that were deleted. */
  shares: Share[];
  /** What sub-accounts no longer have and the merchant gives in their place; their later shares repay it. */
  advanced: { subAccountId: string; amountMinor: bigint }[];
  /** What not even the merchant has. */
  shortfallMinor: bigint;
}

/**
 * Takes each its part: fees, shares, and the rest from the merchant, who advances what a sub-account no longer has. What of
 * the charge waits for its settlement goes first, then what can be spent. A reversal, which cannot be refused, also takes
 * what the merchant's other payments have waiting (`everything`) before it leaves a debt; a refund does not, so that it
 * never eats the reserve of other payments. The accounts are locked; nothing is booked yet.
 */
export async function planClawback(
  tx: Transaction,
  charge: Charge,
  parts: ChargeParts,
  reach: 'own' | 'everything',
): Promise<Clawback> {
  const { merchantId } = charge;
  const { deleted, balances } = await lockTakeBack(tx, charge, parts.shares);
  const shares = parts.shares.filter(({ subAccountId }) => !deleted.has(subAccountId));
  const waiting = isSettled(charge)
    ? new Map<Account, bigint>()
    : await waitingOf(tx, charge, await listRefundIds(tx, merchantId, charge.id));
  const accountsOf = (pending: Account, settled: Account): Account[] =>
    waiting.has(pending) ? [pending, settled] : [settled];
  const merchantAccounts = accountsOf('payable_pending', 'payable_available');
  const shareAccounts = ({ subAccountId }: Share): Account[] =>
    accountsOf(pendingAccount(subAccountId), settledAccount(subAccountId));
  const others: Account[] = reach === 'everything' ? ['payable_pending'] : [];
  const taker = new Collector(balances);
  let shortfallMinor = parts.merchantMinor + taker.take('fees', parts.feeMinor);
  // A merchant gives in the place of deleted sub-accounts, for good: nothing of theirs could ever repay it.
  for (const { subAccountId, amountMinor } of parts.shares)
    if (deleted.has(subAccountId)) shortfallMinor += amountMinor;
  const advanced: Clawback['advanced'] = [];
  for (const share of shares) {
    let missing = share.amountMinor;
    for (const account of shareAccounts(share)) missing = taker.take(account, missing, waiting.get(account));
    if (missing > 0n) advanced.push({ subAccountId: share.subAccountId, amountMinor: missing });
    shortfallMinor += missing;
  }
  for (const account of merchantAccounts) shortfallMinor = taker.take(account, shortfallMinor, waiting.get(account));
  for (const account of others) shortfallMinor = taker.take(account, shortfallMinor);
  return { parts: taker.parts, shares, advanced, shortfallMinor };
}

/**
 * Locks everything that a charge may have to give back from, with what the merchant will owe for it, and the sub-accounts
 * first, so that a deletion sees what its sub-account will owe. In one call and not as far as each part needs it: what
 * follows would lock the rest out of order (docs/adr/0013). `alsoLocked` is what the same transaction books before it.
 */
export async function lockTakeBack(
  tx: Transaction,
  { merchantId, currency }: Pick<Charge, 'merchantId' | 'currency'>,
  shares: readonly Share[],
  alsoLocked: readonly Account[] = [],
): Promise<{ deleted: ReadonlySet<string>; balances: Map<Account, bigint> }> {
  const ids = shares.map(({ subAccountId }) => subAccountId);
  const deleted = await lockDeleted(tx, merchantId, ids);
  const ofShares = ids.filter((id) => !deleted.has(id)).flatMap(balanceAccounts);
  const accounts: Account[] = ['fees', 'payable_available', 'payable_pending', debtAccount, ...ofShares, ...alsoLocked];
  return { deleted, balances: await lockBalances(tx, { merchantId, currency }, accounts) };
}

/** Takes from locked accounts as far as it goes. */
class Collector {
  readonly #balances: Map<Account, bigint>;
  readonly #taken = new Map<Account, bigint>();

  constructor(balances: Map<Account, bigint>) {
    this.#balances = balances;
  }

  get parts(): Part[] {
    return [...this.#taken].map(([account, amountMinor]) => ({ account, amountMinor }));
  }

  /** Answers what is missing of what is wanted; takes no more than `mostMinor`. */
  take(account: Account, neededMinor: bigint, limitMinor = neededMinor): bigint {
    const has = this.#balances.get(account) ?? 0n;
    const amountMinor = least(has, neededMinor, limitMinor);
    this.#balances.set(account, has - amountMinor);
    if (amountMinor > 0n) this.#taken.set(account, (this.#taken.get(account) ?? 0n) + amountMinor);
    return neededMinor - amountMinor;
  }
}

/** What sub-accounts owe the merchant from now on; the pair is undone as their later shares repay it. */
export function advanceMovements(advanced: Clawback['advanced']): Movement[] {
  return advanced.map(({ subAccountId, amountMinor }) => ({
    debit: owedAccount(subAccountId),
    credit: 'due_from_subs',
    amountMinor,
  }));
}
