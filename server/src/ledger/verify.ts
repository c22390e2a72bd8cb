import type { Queryable } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { accountKinds } from './accounts.ts';
import { listLedgerRows, type LedgerRow } from './queries.ts';

/** The first thing found wrong, in words that an operator can act on. */
export interface LedgerFinding {
  check: 'account_kind' | 'balance' | 'below_zero' | 'unbalanced' | 'held';
  merchantId: string;
  account: string;
  currency: string;
  message: string;
}

export interface LedgerVerification {
  movements: bigint;
  accounts: bigint;
  finding: LedgerFinding | null;
}

/**
 * Recomputes every balance from the movements and checks: stored balances, guarded accounts below zero, debits against
 * credits of each merchant, and held money against the open holds. One statement reads accounts, deltas and movements in
 * one snapshot, so it can run while the service does.
 */
export async function verifyLedger(db: Queryable): Promise<LedgerVerification> {
  const debitKinds = Object.entries(accountKinds).flatMap(([name, kind]) => (kind.side === 'debit' ? [name] : []));
  const rows = await listLedgerRows(db, debitKinds);
  const movements = rows.reduce((sum, row) => sum + BigInt(row.movements), 0n);
  const finding = checkAccounts(rows) ?? checkBalanced(rows) ?? checkHeld(rows);
  // Each movement is counted on its two accounts.
  return { movements: movements / 2n, accounts: BigInt(rows.length), finding };
}

function checkAccounts(rows: readonly LedgerRow[]): LedgerFinding | null {
  for (const row of rows) {
    const kind = (accountKinds as Record<string, { guarded: boolean } | undefined>)[row.kind];
    if (kind === undefined) return findingOn(row, 'account_kind', `no account is of the kind ${row.kind}`);
    const stored = formatDalasi(row.stored);
    if (row.stored !== row.moved) {
      return findingOn(row, 'balance', `the balance says ${stored}, the movements say ${formatDalasi(row.moved)}`);
    }
    if (kind.guarded && BigInt(row.stored) < 0n) {
      return findingOn(row, 'below_zero', `the balance is ${stored} and must not be below zero`);
    }
  }
  return null;
}

/** Debit balances must equal credit balances, for each merchant and currency. */
function checkBalanced(rows: readonly LedgerRow[]): LedgerFinding | null {
  const sums = new Map<string, { row: LedgerRow; sum: bigint }>();
  for (const row of rows) {
    const key = `${row.merchantId} ${row.currency}`;
    const entry = sums.get(key) ?? { row, sum: 0n };
    const side = (accountKinds as Record<string, { side: string } | undefined>)[row.kind]?.side;
    entry.sum += side === 'debit' ? BigInt(row.stored) : -BigInt(row.stored);
    sums.set(key, entry);
  }
  for (const { row, sum } of sums.values()) {
    const message = `debits and credits differ by ${formatDalasi(sum)}`;
    if (sum !== 0n) return findingOn({ ...row, account: '*' }, 'unbalanced', message);
  }
  return null;
}

/** The balance of `held` is the sum of the open holds, whether or not the account has a row. */
function checkHeld(rows: readonly LedgerRow[]): LedgerFinding | null {
  const row = rows.find(({ kind, stored, open }) => open !== (kind === 'held' ? stored : '0'));
  if (!row) return null;
  const message = `${formatDalasi(row.stored)} is held, but the open holds sum to ${formatDalasi(row.open)}`;
  return findingOn(row, 'held', message);
}

function findingOn(
  { merchantId, account, currency }: Pick<LedgerRow, 'merchantId' | 'account' | 'currency'>,
  check: LedgerFinding['check'],
  message: string,
): LedgerFinding {
  return { check, merchantId, account, currency, message };
}

/** As operators read amounts everywhere else; the finding names the currency. */
function formatDalasi(minor: bigint | string): string {
  return formatAmount(BigInt(minor), { style: 'plain' });
}
