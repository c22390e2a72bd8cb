import type { Queryable } from '../kit/db.ts';
import type { AccountKind, OwedRow } from '../ledger/accounts.ts';
import { listOwedAccounts } from '../ledger/debt.ts';

/**
 * The kinds of accounts that hold debts in a merchant's books. `/metrics` shows the age and amount of each, and
 * `operator cases list` what ends it; a kind that is added here appears in both. Their index is ledger_accounts_owed_idx.
 */
export const owedKinds = ['receivable_merchant', 'sub_owed'] as const satisfies AccountKind[];

export type OwedKind = (typeof owedKinds)[number];

/** Who owes whom, and what ends the debt, for operators. */
export const owedDescriptions: Record<OwedKind, { who: string; endsBy: string }> = {
  receivable_merchant: {
    who: 'the merchant owes the operator',
    endsBy: 'its next payments repay it, or its case merchant_owes',
  },
  sub_owed: {
    who: 'a sub-account owes the merchant',
    endsBy: 'its next money repays it, or the merchant waives it (waive-debt)',
  },
};

export interface Owed extends OwedRow {
  kind: OwedKind;
}

/** All debts at the moment. */
export async function listOwed(db: Queryable): Promise<Owed[]> {
  const rows = await listOwedAccounts(db, owedKinds);
  return rows.map((row) => ({ ...row, kind: row.account.split(':', 1)[0] as OwedKind }));
}
