import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { lockBalances } from '../ledger/post.ts';
import type { Movement, Part } from '../ledger/posting.ts';
import { lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import {
  balanceAccounts,
  owedAccount,
  pendingAccount,
  settledAccount,
  settledOf,
} from '../sub-accounts/ledger-accounts.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { bookCharge, bookLeftDirectly, type SharedCharge } from './booking.ts';
import {
  clawbackParts,
  difference,
  isSettled,
  partsOf,
  receivedMinor,
  type Charge,
  type ChargeParts,
} from './charge.ts';
import type { PaymentContext } from './context.ts';
import { hasRefund, listRefundIds } from './queries/charges.ts';
import { waitingOf } from './waiting-money.ts';

/** What a network reverses of a charge, and how it is divided. */
export interface ReversedMoney {
  railAccount: string;
  reversedMinor: bigint;
  /** One of several transactions that paid the charge is divided `as_it_came`; a part of one, `in_proportion`. */
  divided: 'as_it_came' | 'in_proportion';
}

/**
 * Books a reversal, or a part of one. Each recipient gives its part; the merchant advances what a sub-account no longer has,
 * and owes what it does not have itself. Where the payer was refunded before, or is being refunded, the merchant gives all.
 */
export async function bookReversed(
  tx: Transaction,
  context: PaymentContext,
  shared: SharedCharge,
  money: ReversedMoney,
): Promise<{ shortfallMinor: bigint }> {
  const { charge } = shared;
  if (charge.receivedDirectly) {
    // What the merchant returned before has left already.
    const amountMinor = money.reversedMinor - charge.amountRefundedMinor;
    await bookLeftDirectly(tx, context, charge, { flow: 'reversed', railAccount: money.railAccount, amountMinor });
    return { shortfallMinor: 0n };
  }
  const parts = (await hasRefund(tx, charge.merchantId, charge.id))
    ? { feeMinor: 0n, shares: [], merchantMinor: money.reversedMinor }
    : divideReversed(shared, money);
  const clawback = await planClawback(tx, charge, parts, 'everything');
  const { shortfallMinor } = clawback;
  const float = `float:${money.railAccount}` as const;
  await bookCharge(tx, context, charge, 'reversed', [
    ...clawback.parts.map(({ account, amountMinor }) => ({ debit: account, credit: float, amountMinor })),
    ...advanceMovements(clawback.advanced),
    { debit: debtAccount, credit: float, amountMinor: shortfallMinor },
  ]);
  return { shortfallMinor };
}

function divideReversed({ charge, shares }: SharedCharge, { reversedMinor, divided }: ReversedMoney): ChargeParts {
  if (divided === 'in_proportion') return clawbackParts(charge, shares, reversedMinor);
  const received = receivedMinor(charge);
  return difference(partsOf(charge, shares, received), partsOf(charge, shares, received - reversedMinor));
}

/** Where the money of a refund or a reversal is collected from. */
export interface Clawback {
  parts: Part[];
  /** The shares that give a part; in the place of deleted sub-accounts the merchant gives. */
  shares: Share[];
  /** What sub-accounts no longer have and the merchant gives in their place; their later shares repay it. */
  advanced: { subAccountId: string; amountMinor: bigint }[];
  /** What not even the merchant has, in bututs. */
  shortfallMinor: bigint;
}

/**
 * Plans what each recipient gives: fee, shares, and the rest from the merchant, who advances what a sub-account no longer
 * has. The charge's own pending money is used first, then what can be spent. A reversal, which cannot be refused, also uses
 * the pending money of the merchant's other payments (`everything`) before it leaves a debt; a refund does not, so that it
 * never uses up the reserve of other payments. Locks the accounts and books nothing.
 */
export async function planClawback(
  tx: Transaction,
  charge: Charge,
  { feeMinor, shares, merchantMinor }: ChargeParts,
  reach: 'own' | 'everything',
): Promise<Clawback> {
  const { deleted, balances } = await lockClawback(tx, charge, shares);
  const pending = isSettled(charge)
    ? new Map<Account, bigint>()
    : await waitingOf(tx, charge, await listRefundIds(tx, charge.merchantId, charge.id));
  const collector = new Collector(balances, pending);
  const givers = shares.filter(({ subAccountId }) => !deleted.has(subAccountId));
  let shortfallMinor = merchantMinor + collector.collect(['fees'], feeMinor);
  // The merchant gives in the place of deleted sub-accounts for good: nothing of theirs could ever repay it.
  for (const { subAccountId, amountMinor } of shares) if (deleted.has(subAccountId)) shortfallMinor += amountMinor;
  const advanced: Clawback['advanced'] = [];
  for (const { subAccountId, amountMinor } of givers) {
    const accounts = [pendingAccount(subAccountId), settledAccount(subAccountId)];
    const missingMinor = collector.collect(accounts, amountMinor);
    if (missingMinor > 0n) advanced.push({ subAccountId, amountMinor: missingMinor });
    shortfallMinor += missingMinor;
  }
  shortfallMinor = collector.collect(['payable_pending', 'payable_available'], shortfallMinor);
  if (reach === 'everything') shortfallMinor = collector.collectAny('payable_pending', shortfallMinor);
  return { parts: collector.parts, shares: givers, advanced, shortfallMinor };
}

/**
 * Locks every account that a charge may have to give from, and what the merchant will owe for it; the sub-accounts first, so
 * that a deletion sees what its sub-account will owe. All in one call: what follows would lock the rest out of order
 * (docs/adr/0013-debts-are-repaid-first.md). `alsoLocked` is what the same transaction books before it.
 */
export async function lockClawback(
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

/** Collects from locked accounts as far as their balances go. */
class Collector {
  readonly #balances: Map<Account, bigint>;
  readonly #pending: ReadonlyMap<Account, bigint>;
  readonly #collected = new Map<Account, bigint>();

  /** `pending` is the charge's own part of the balances that wait for their settlement. */
  constructor(balances: Map<Account, bigint>, pending: ReadonlyMap<Account, bigint>) {
    this.#balances = balances;
    this.#pending = pending;
  }

  get parts(): Part[] {
    return [...this.#collected].map(([account, amountMinor]) => ({ account, amountMinor }));
  }

  /** Collects from one account after the other, from a pending one the charge's own part. Returns what is missing. */
  collect(accounts: readonly Account[], neededMinor: bigint): bigint {
    let missingMinor = neededMinor;
    for (const account of accounts) {
      const isPending = settledOf(account) !== null;
      missingMinor = this.#take(account, missingMinor, isPending ? (this.#pending.get(account) ?? 0n) : missingMinor);
    }
    return missingMinor;
  }

  /** Collects from an account whichever payment brought it. Returns what is missing. */
  collectAny(account: Account, neededMinor: bigint): bigint {
    return this.#take(account, neededMinor, neededMinor);
  }

  #take(account: Account, neededMinor: bigint, limitMinor: bigint): bigint {
    const balanceMinor = this.#balances.get(account) ?? 0n;
    const amountMinor = least(balanceMinor, neededMinor, limitMinor);
    this.#balances.set(account, balanceMinor - amountMinor);
    if (amountMinor > 0n) this.#collected.set(account, (this.#collected.get(account) ?? 0n) + amountMinor);
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
