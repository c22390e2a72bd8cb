import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { accountKind, debitSign, growsLocked, isGuarded } from './accounts.ts';
import type { Account } from './accounts.ts';
import type { LedgerContext, Movement, Posting } from './posting.ts';
import { ensureAccount, insertDeltas, insertMovements, lockAccount, deleteDeltas, updateBalance } from './queries.ts';

// The most is a payment with a group of 20, all of them in debt and a part of it in reserve: fee, the network's cut and the
// merchant's rest in two places are 4, each share stands in two places too and repays from each with two more, and the
// merchant repays from two places: 126 together. Its reversal needs 65: fee, 20 shares from two places each and 20 advances,
// the merchant's 3 places and its debt.
// A refund that is undone gives up to 7 to each of 20 shares: an advance that ends with its waiver, and money that is passed on.
const movementsMax = 150;

/**
 * Books a posting in the caller's transaction. What only grows is inserted beside the balance, so collecting never
 * waits for another payment; what shrinks a guarded account locks it first, and so does what a merchant's debt grows by.
 *
 * Throws AppError `insufficient_balance` when a guarded account would fall below zero.
 */
export async function post(tx: Transaction, context: LedgerContext, posting: Posting): Promise<void> {
  await book(tx, context, posting, isGuarded);
}

/**
 * The same for what leaves `held` by closing an open hold, which nobody can close twice: the account need not be locked,
 * so that outcomes of one merchant's transfers do not queue.
 */
export async function postFromHold(tx: Transaction, context: LedgerContext, posting: Posting): Promise<void> {
  await book(tx, context, posting, (account) => isGuarded(account) && account !== 'held');
}

async function book(
  tx: Transaction,
  context: LedgerContext,
  posting: Posting,
  locks: (account: Account) => boolean,
): Promise<void> {
  const movements = posting.movements.filter((movement) => movement.amountMinor !== 0n);
  assert(movements.length <= movementsMax, `a posting has at most ${movementsMax} movements`);
  if (movements.length === 0) return;
  const changes = changesByAccount(movements);
  const deltas: { account: Account; id: string; amountMinor: bigint }[] = [];
  // Sorted, so that two transactions that lock the same accounts never wait for each other in a circle.
  for (const account of [...changes.keys()].toSorted()) {
    const change = changes.get(account) ?? 0n;
    if (change < 0n && locks(account)) await spend(tx, posting, account, -change);
    else if (change > 0n && growsLocked(account)) await grow(tx, posting, account, change);
    else if (change !== 0n) deltas.push({ account, id: context.newId(), amountMinor: change });
  }
  tx.send(
    insertMovements(
      posting,
      movements.map((movement) => ({ ...movement, id: context.newId() })),
    ),
  );
  if (deltas.length > 0) tx.send(insertDeltas(posting, deltas));
}

/**
 * Locks an account until the transaction ends and answers its balance in bututs, everything folded in. For flows that
 * take "as far as it goes".
 */
export async function lockBalance(
  tx: Transaction,
  at: { merchantId: string; account: Account; currency: string },
): Promise<bigint> {
  tx.send(ensureAccount({ ...at, kind: accountKind(at.account) }));
  // Sent together, run one after the other: the second begins, and takes its snapshot, once the lock is ours. Deltas are
  // deleted by what it sees, never up to a time or number: a transaction that commits late would be lost otherwise.
  const [balance, folded] = await Promise.all([lockAccount(tx, at), deleteDeltas(tx, at)]);
  if (folded !== 0n) tx.send(updateBalance(at, folded));
  return balance + folded;
}

/**
 * Locks several accounts of a merchant, in the one order that everybody keeps, and answers their balances. Whoever
 * means to spend from more than one of them calls this first.
 */
export async function lockBalances(
  tx: Transaction,
  at: { merchantId: string; currency: string },
  accounts: readonly Account[],
): Promise<Map<Account, bigint>> {
  const balances = new Map<Account, bigint>();
  for (const account of accounts.toSorted()) {
    balances.set(account, await lockBalance(tx, { ...at, account }));
  }
  return balances;
}

async function spend(tx: Transaction, posting: Posting, account: Account, amountMinor: bigint): Promise<void> {
  const at = { merchantId: posting.merchantId, account, currency: posting.currency };
  const balance = await lockBalance(tx, at);
  if (balance < amountMinor) {
    const short = `The balance is short by ${formatAmount(amountMinor - balance)}.`;
    throw new AppError('insufficient_balance', `${short} Ask for less, or collect more first.`, {
      internal: `${account} has ${balance}, ${amountMinor} was asked for`,
    });
  }
  tx.send(updateBalance(at, -amountMinor));
}

/** Adds under the lock and leaves no delta, so that the stored balance is all there is. */
async function grow(tx: Transaction, posting: Posting, account: Account, amountMinor: bigint): Promise<void> {
  const at = { merchantId: posting.merchantId, account, currency: posting.currency };
  await lockBalance(tx, at);
  tx.send(updateBalance(at, amountMinor));
}

/** How movements change balances, in bututs: above zero where they grow. */
export function changesByAccount(movements: readonly Movement[]): Map<Account, bigint> {
  const changes = new Map<Account, bigint>();
  const add = (account: Account, change: bigint) => changes.set(account, (changes.get(account) ?? 0n) + change);
  for (const { debit, credit, amountMinor } of movements) {
    assert(amountMinor > 0n, 'a movement moves more than nothing');
    assert(debit !== credit, 'a movement has two accounts');
    add(debit, debitSign(debit) * amountMinor);
    add(credit, -debitSign(credit) * amountMinor);
  }
  return changes;
}
