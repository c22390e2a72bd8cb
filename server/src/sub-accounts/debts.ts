import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { readBalances } from '../ledger/balances.ts';
import type { PlannedMovements } from '../ledger/planned-movements.ts';
import type { Part, Movement, Posting } from '../ledger/posting.ts';
import { bookedBy } from '../ledger/undo.ts';
import { owedAccount, settledAccount, settledOf, subAccountOn } from './ledger-accounts.ts';

// What a sub-account owes is what the merchant advanced for it. The pair `sub_owed:<id>` and `due_from_subs` says how much;
// the money itself the merchant has given. Whatever comes to the sub-account repays it first, so a sub-account that owes has
// nothing that it could be paid.

interface MerchantCurrency {
  merchantId: string;
  currency: string;
}

/**
 * The accounts to lock before money is given to these sub-accounts; empty where none of them owes, which is nearly always.
 * A debt that begins at this very moment is not seen: `repaySubAccountDebts` looks after it later.
 */
export async function debtAccounts(
  db: Queryable,
  { merchantId, currency }: MerchantCurrency,
  subAccountIds: readonly string[],
): Promise<Account[]> {
  const owed = await readDebts(db, { merchantId, currency }, subAccountIds);
  return owed.size === 0 ? [] : ['due_from_subs', ...[...owed.keys()].map(owedAccount)];
}

/** What each of these owes, in bututs; those that owe nothing are left out. */
export async function readDebts(
  db: Queryable,
  merchant: MerchantCurrency,
  subAccountIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const ids = [...new Set(subAccountIds)];
  const balances = await readBalances(db, { ...merchant, accounts: ids.map(owedAccount) });
  return new Map(ids.map((id) => [id, balances.get(owedAccount(id)) ?? 0n] as const).filter(([, minor]) => minor > 0n));
}

/**
 * What of the money that comes to sub-accounts they give to the merchant at once, to be booked in the same posting. `owed`
 * has the locked balances of `debtAccounts`; parts on other accounts are passed over. Money that waits for its settlement
 * repays with money that waits, so it becomes spendable for the merchant when it would have for the sub-account.
 */
export function repayments(owed: ReadonlyMap<Account, bigint>, incoming: readonly Part[]): Movement[] {
  const left = new Map(owed);
  return incoming.flatMap(({ account, amountMinor }): Movement[] => {
    const subAccountId = subAccountOn(account);
    if (subAccountId === null) return [];
    const debt = owedAccount(subAccountId);
    const owedMinor = left.get(debt) ?? 0n;
    const repaidMinor = least(owedMinor, amountMinor);
    left.set(debt, owedMinor - repaidMinor);
    return [
      { debit: account, credit: merchantAccountBeside(account), amountMinor: repaidMinor },
      { debit: 'due_from_subs', credit: debt, amountMinor: repaidMinor },
    ];
  });
}

/** What comes back of what the merchant advanced for a sub-account, in bututs. */
export interface AdvanceComingBack {
  subAccountId: string;
  advancedMinor: bigint;
  /** What the merchant waived of this advance, and has not come back since. */
  waivedMinor: bigint;
}

/**
 * Plans the end of an advance whose cause came to nothing, and answers what the sub-account has repaid of it, which is its own
 * again. A waiver has ended a claim and made none: what comes back of it stays with the merchant. The rest is no longer
 * owed, as far as it still is.
 */
export function planAdvanceUndone(plan: PlannedMovements, back: AdvanceComingBack): bigint {
  const { advancedMinor } = back;
  const owed = owedAccount(back.subAccountId);
  const waivedMinor = least(back.waivedMinor, advancedMinor);
  const forgivenMinor = waivedMinor + least(plan.balanceOf(owed), advancedMinor - waivedMinor);
  const repaidMinor = advancedMinor - forgivenMinor;
  plan.add(
    { debit: owed, credit: 'due_from_subs', amountMinor: waivedMinor, flow: 'debt_waived' },
    { debit: owed, credit: 'due_from_subs', amountMinor: repaidMinor, flow: 'repayment_returned' },
    { debit: 'due_from_subs', credit: owed, amountMinor: advancedMinor, flow: 'advance_undone' },
  );
  return repaidMinor;
}

/** What the merchant waived of the advances of a source, by sub-account, in bututs; less what has come back since. */
export async function readWaived(
  tx: Transaction,
  at: Pick<Posting, 'merchantId' | 'source'>,
): Promise<(subAccountId: string) => bigint> {
  const { given } = await bookedBy(tx, at, ({ flow }) => flow === 'debt_waived');
  return (subAccountId) => given.get(owedAccount(subAccountId)) ?? 0n;
}

/** Whether a movement is one of the two that `repayments` makes. */
export function isRepayment({ debit, credit }: Movement): boolean {
  return debit === 'due_from_subs' || (subAccountOn(debit) !== null && credit.startsWith('payable_'));
}

/** The same for what stands on the sub-accounts' settled accounts already; all of them are locked. */
export function settledRepayments(
  balances: ReadonlyMap<Account, bigint>,
  subAccountIds: readonly string[],
): Movement[] {
  const settled = subAccountIds.map((id): Part => {
    return { account: settledAccount(id), amountMinor: balances.get(settledAccount(id)) ?? 0n };
  });
  return repayments(balances, settled);
}

function merchantAccountBeside(account: Account): Account {
  assert(subAccountOn(account) !== null, 'a sub-account repays from its own money');
  return settledOf(account) === null ? 'payable_available' : 'payable_pending';
}
