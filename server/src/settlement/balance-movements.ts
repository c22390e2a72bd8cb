import { fieldError } from '../kit/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { explainBalance } from '../ledger/explain-balance.ts';
import type { BalanceLine } from '../ledger/explain-balance.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { owedAccount, pendingAccount, settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { findSources } from './line-sources.ts';
import type { LineSource } from './line-sources.ts';
import { knowsSubAccount } from './queries.ts';

/** What a balance is made of. Amounts are bututs. */
export interface BalanceExplanation {
  balanceMinor: bigint;
  /** The newest first; one more than the limit where older ones are left. */
  lines: (Omit<BalanceLine, 'source'> & { source: LineSource })[];
}

/** Why an account of the merchant's ledger has what it has, or had at `at`. */
export async function explainAccount(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  query: { account: Account; at: Date | null; before: string | null; rowsMax: number },
): Promise<BalanceExplanation> {
  const { balanceMinor, lines } = await explainBalance(db, { ...query, merchantId, currency });
  const sourceOf = await findSources(db, merchantId, lines);
  return { balanceMinor, lines: lines.map((line) => ({ ...line, source: sourceOf(line) })) };
}

/** The account behind a balance as GET /v1/balances names it; undefined for every other name. */
export function accountOfBalance(name: string): Account | undefined {
  if (name === 'payout_balance') return 'payable_available';
  if (name === 'available_balance') return 'payable_pending';
  return name === 'owed_balance' ? debtAccount : undefined;
}

/**
 * The account that a merchant means: a balance as GET /v1/balances names it, or a sub-account's, also of one that was
 * deleted. Throws AppError `invalid_request` naming the field.
 */
export async function readAccountName(db: Queryable, merchantId: string, name: string): Promise<Account> {
  const balanceAccount = accountOfBalance(name);
  if (balanceAccount) return balanceAccount;
  const [kind, id = '', part, ...rest] = name.split(':');
  const isWaiting = part === 'pending' && kind === 'sub';
  const isKind = kind === 'sub' || kind === 'sub_owed';
  const isWellFormed = isKind && isUuid(id) && (isWaiting || part === undefined) && rest.length === 0;
  if (isWellFormed && (await knowsSubAccount(db, merchantId, id))) {
    // As the ledger writes it: an id may be sent in capitals.
    const subAccountId = id.toLowerCase();
    if (kind === 'sub_owed') return owedAccount(subAccountId);
    return isWaiting ? pendingAccount(subAccountId) : settledAccount(subAccountId);
  }
  const message =
    'There is no such account. Choose payout_balance, available_balance, owed_balance, sub:<id of a sub-account>, ' +
    'sub:<id>:pending for what waits for its settlement, or sub_owed:<id> for what it owes you.';
  throw fieldError('invalid_request', 'account', message);
}
