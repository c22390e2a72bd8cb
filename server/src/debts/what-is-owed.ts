import type { Queryable } from '../kit/db.ts';
import type { AccountKind, OwedRow } from '../ledger/accounts.ts';
import { listOwedAccounts } from '../ledger/debt.ts';

/**
 * Everything that can be owed within a merchant's books: an account that grows by what is owed. Each has its age and
 * value in /metrics, and its line in `operator cases list` with what ends it; what is added here appears in both. Its index is
 * ledger_accounts_owed_idx.
 */
export const owedKinds = ['receivable_merchant', 'sub_owed'] as const satisfies AccountKind[];

export type OwedKind = (typeof owedKinds)[number];

/** Who owes whom, and what ends it, as operators read it. */
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

/** What is owed now, by everybody to everybody. */
export async function listOwed(db: Queryable): Promise<Owed[]> {
  const rows = await listOwedAccounts(db, owedKinds);
  return rows.map((row) => ({ ...row, kind: row.account.split(':', 1)[0] as OwedKind }));
}
