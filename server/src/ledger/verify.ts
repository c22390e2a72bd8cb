import type { Queryable } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { accountKinds } from './accounts.ts';
import { listLedgerRows } from './queries.ts';
import type { LedgerRow } from './queries.ts';

/** The first thing found wrong, in words an operator can act on. */
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
 * Recomputes every balance from the movements and compares: stored balances, guarded accounts below zero, debits
 * against credits of each merchant, and held money against the open holds. One statement reads accounts, deltas and
 * movements, so that it sees one moment and may run beside the service.
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
    const { merchantId, account, currency } = row;
    const at = { merchantId, account, currency };
    const kind = (accountKinds as Record<string, { guarded: boolean } | undefined>)[row.kind];
    if (kind === undefined) return { check: 'account_kind', ...at, message: `no account is of the kind ${row.kind}` };
    if (row.stored !== row.moved) {
      return {
        check: 'balance',
        ...at,
        message: `the balance says ${formatDalasi(row.stored)}, the movements say ${formatDalasi(row.moved)}`,
      };
    }
    if (kind.guarded && BigInt(row.stored) < 0n) {
      return {
        check: 'below_zero',
        ...at,
        message: `the balance is ${formatDalasi(row.stored)} and must not be below zero`,
      };
    }
  }
  return null;
}

/** What stands on the debit side must equal what stands on the credit side, for each merchant and currency. */
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
    if (sum !== 0n) {
      const message = `debits and credits differ by ${formatDalasi(sum)}`;
      return { check: 'unbalanced', merchantId: row.merchantId, account: '*', currency: row.currency, message };
    }
  }
  return null;
}

/** The balance of `held` is the sum of the open holds, whether or not the account has a row. */
function checkHeld(rows: readonly LedgerRow[]): LedgerFinding | null {
  for (const { merchantId, account, currency, kind, stored, open } of rows) {
    if (open === (kind === 'held' ? stored : '0')) continue;
    const message = `${formatDalasi(stored)} is held, but the open holds sum to ${formatDalasi(open)}`;
    return { check: 'held', merchantId, account, currency, message };
  }
  return null;
}

/** As operators read amounts everywhere else; the currency stands beside the account. */
function formatDalasi(minor: bigint | string): string {
  return formatAmount(BigInt(minor), { style: 'plain' });
}
