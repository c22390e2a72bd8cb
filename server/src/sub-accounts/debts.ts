import type { Queryable, Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account, MerchantCurrency } from '../ledger/accounts.ts';
import { readBalances } from '../ledger/balances.ts';
import type { PlannedMovements } from '../ledger/planned-movements.ts';
import type { Part, Movement, Posting } from '../ledger/posting.ts';
import { bookedBy } from '../ledger/undo.ts';
import { owedAccount, settledAccount, settledOf, subAccountOn } from './ledger-accounts.ts';

// A sub-account owes the merchant what the merchant advanced for it. The pair `sub_owed:<id>` and `due_from_subs` records how
// much; the money itself came from the merchant. Everything credited to the sub-account repays the debt first, so a
// sub-account in debt has nothing to pay out.

/**
 * The accounts to lock before these sub-accounts are credited; empty where none of them owes, which is nearly always. A debt
 * that begins at the same moment is not seen here: `repaySubAccountDebts` repays it later.
 */
export async function debtAccounts(
  db: Queryable,
  { merchantId, currency }: MerchantCurrency,
  subAccountIds: readonly string[],
): Promise<Account[]> {
  const owed = await readDebts(db, { merchantId, currency }, subAccountIds);
  return owed.size === 0 ? [] : ['due_from_subs', ...[...owed.keys()].map(owedAccount)];
}

/** What each of these owes, in bututs, without those that owe nothing. */
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
 * The repayments that follow from credits to sub-accounts, for the same posting. `owed` has the locked balances of
 * `debtAccounts`; parts on other accounts are ignored. Pending money repays to the merchant's pending account, so it becomes
 * spendable for the merchant when it would have for the sub-account.
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
      {
        debit: account,
        credit: settledOf(account) === null ? 'payable_available' : 'payable_pending',
        amountMinor: repaidMinor,
      },
      { debit: 'due_from_subs', credit: debt, amountMinor: repaidMinor },
    ];
  });
}

/** An advance, or a part of one, whose refund, reversal or payout was undone, in bututs. */
export interface AdvanceComingBack {
  subAccountId: string;
  advancedMinor: bigint;
  /** What the merchant waived of this advance, without waivers that were undone since. */
  waivedMinor: bigint;
}

/**
 * Plans the end of an advance whose cause was undone, and returns what the sub-account has repaid of it and gets back. A
 * waiver ended a claim and created none, so the waived part stays with the merchant. The rest is no longer owed.
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

/** What the merchant waived of a source's advances, by sub-account, in bututs, without waivers that were undone since. */
export async function readWaived(
  tx: Transaction,
  source: Pick<Posting, 'merchantId' | 'source'>,
): Promise<(subAccountId: string) => bigint> {
  const { credited } = await bookedBy(tx, source, ({ flow }) => flow === 'debt_waived');
  return (subAccountId) => credited.get(owedAccount(subAccountId)) ?? 0n;
}

/** Whether `repayments` made the movement. */
export function isRepayment({ debit, credit }: Movement): boolean {
  return debit === 'due_from_subs' || (subAccountOn(debit) !== null && credit.startsWith('payable_'));
}

/** The repayments from the sub-accounts' settled balances; all of these accounts are locked. */
export function settledRepayments(
  balances: ReadonlyMap<Account, bigint>,
  subAccountIds: readonly string[],
): Movement[] {
  const accounts = subAccountIds.map(settledAccount);
  return repayments(
    balances,
    accounts.map((account) => ({ account, amountMinor: balances.get(account) ?? 0n })),
  );
}
