import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import {
  accountKind,
  debitSign,
  growsLocked,
  isGuarded,
  type Account,
  type AccountKey,
  type MerchantCurrency,
} from './accounts.ts';
import { forgetBalance, forgetDebtFree, knownBalance, rememberBalance } from './locked-balances.ts';
import type { LedgerContext, Movement, Posting } from './posting.ts';
import { ensureAccount, insertDeltas, insertMovements, lockAccount, deleteDeltas, updateBalance } from './queries.ts';

// The largest posting is a payment with a group of 20, all in debt, with a reserve. Fee, network fee and the merchant's part
// on two accounts are 4 movements; each share is on two accounts too and repays from each with two more; the merchant repays
// from two accounts: 126 together. Its reversal needs 65: the fee, 20 shares from two accounts each, 20 advances, the
// merchant's 3 accounts and its debt. A refund that is undone needs up to 7 for each of 20 shares: an advance that ends with
// its waiver, and repayments.
const movementsMax = 150;

/**
 * Books a posting in the caller's transaction. Credits are inserted as deltas beside the balance, so collecting never
 * waits for another payment. A guarded account is locked before it shrinks, and a merchant's debt before it grows.
 *
 * Throws AppError `insufficient_balance` when a guarded account would fall below zero.
 */
export async function post(tx: Transaction, context: LedgerContext, posting: Posting): Promise<void> {
  await book(tx, context, posting, isGuarded);
}

/**
 * Books a posting that closes an open hold. A hold closes only once, so `held` need not be locked, and the outcomes of one
 * merchant's transfers do not wait for each other.
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
  const { merchantId, currency } = posting;
  const changes = changesByAccount(movements);
  const deltas: { account: Account; id: string; amountMinor: bigint }[] = [];
  // Sorted, so that two transactions that lock the same accounts cannot deadlock.
  for (const account of [...changes.keys()].toSorted()) {
    const change = changes.get(account) ?? 0n;
    if (change < 0n && locks(account)) await spend(tx, { merchantId, currency, account }, -change);
    else if (change > 0n && growsLocked(account)) await grow(tx, { merchantId, currency, account }, change);
    else if (change !== 0n) {
      deltas.push({ account, id: context.newId(), amountMinor: change });
      forgetBalance(tx, { merchantId, currency, account });
    }
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
 * Locks an account until the transaction ends, folds its deltas and returns its balance in bututs. For flows that take as
 * much as there is.
 */
export async function lockBalance(tx: Transaction, key: AccountKey): Promise<bigint> {
  const known = knownBalance(tx, key);
  if (known !== undefined) return known;
  let { stored, folded } = await lockAndFold(tx, key);
  if (stored === undefined) {
    tx.send(ensureAccount({ ...key, kind: accountKind(key.account) }));
    const again = await lockAndFold(tx, key);
    stored = again.stored;
    folded += again.folded;
  }
  assert(stored !== undefined, 'an account that was created has a row');
  if (folded !== 0n) tx.send(updateBalance(key, folded));
  // Another posting that the transaction books at once may have locked it meanwhile, and changed it since.
  const balance = (knownBalance(tx, key) ?? stored) + folded;
  rememberBalance(tx, key, balance);
  return balance;
}

/**
 * Both are sent at once and run in order: the second takes its snapshot once the lock is held. It deletes the deltas that it
 * sees, not those up to a time or id, which would lose the delta of a transaction that commits late. What it deletes belongs to the
 * balance also where there is no row to lock yet.
 */
async function lockAndFold(tx: Transaction, key: AccountKey): Promise<{ stored: bigint | undefined; folded: bigint }> {
  const [stored, folded] = await Promise.all([lockAccount(tx, key), deleteDeltas(tx, key)]);
  return { stored, folded };
}

/** Of a locked account. */
function changeBalance(tx: Transaction, key: AccountKey, by: bigint): void {
  tx.send(updateBalance(key, by));
  const known = knownBalance(tx, key);
  if (known !== undefined) rememberBalance(tx, key, known + by);
}

/**
 * Locks several accounts of a merchant in the order of their names, which every transaction keeps, and returns their
 * balances. Call it before you spend from more than one account.
 */
export async function lockBalances(
  tx: Transaction,
  { merchantId, currency }: MerchantCurrency,
  accounts: readonly Account[],
): Promise<Map<Account, bigint>> {
  const balances = new Map<Account, bigint>();
  for (const account of accounts.toSorted()) {
    balances.set(account, await lockBalance(tx, { merchantId, currency, account }));
  }
  return balances;
}

async function spend(tx: Transaction, key: AccountKey, amountMinor: bigint): Promise<void> {
  const locked = await lockBalance(tx, key);
  const balance = knownBalance(tx, key) ?? locked;
  if (balance < amountMinor) {
    const missing = formatAmount(amountMinor - balance);
    throw new AppError('insufficient_balance', `Insufficient balance: ${missing} is missing. Send a smaller amount.`, {
      internal: `${key.account} has ${balance}, ${amountMinor} was requested`,
    });
  }
  changeBalance(tx, key, -amountMinor);
}

/** Adds under the lock without a delta, so that the stored balance stays the whole balance. */
async function grow(tx: Transaction, key: AccountKey, amountMinor: bigint): Promise<void> {
  await lockBalance(tx, key);
  changeBalance(tx, key, amountMinor);
  forgetDebtFree(tx, key);
}

/** How movements change balances, in bututs: above zero where a balance grows. */
export function changesByAccount(movements: readonly Movement[]): Map<Account, bigint> {
  const changes = new Map<Account, bigint>();
  const add = (account: Account, change: bigint) => changes.set(account, (changes.get(account) ?? 0n) + change);
  for (const { debit, credit, amountMinor } of movements) {
    assert(amountMinor > 0n, 'the amount of a movement is above zero');
    assert(debit !== credit, 'a movement debits one account and credits another');
    add(debit, debitSign(debit) * amountMinor);
    add(credit, -debitSign(credit) * amountMinor);
  }
  return changes;
}
