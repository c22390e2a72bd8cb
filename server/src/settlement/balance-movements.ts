import { fieldError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { accountKinds, type Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { explainBalance } from '../ledger/history.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { owedAccount, pendingAccount, settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { withSources, type SourcedLine } from './line-sources.ts';
import { subAccountExisted } from './queries.ts';

/** A balance and the movements behind it. Amounts are bututs. */
export interface BalanceExplanation {
  balanceMinor: bigint;
  /** Newest first; one more than the limit where older ones are left. */
  lines: SourcedLine[];
}

/** The movements behind the balance of an account of the merchant's ledger, now or at `at`. */
export async function explainAccount(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  query: { account: Account; at: Date | null; before: string | null; rowsMax: number },
): Promise<BalanceExplanation> {
  const { balanceMinor, lines } = await explainBalance(db, { ...query, merchantId, currency });
  return { balanceMinor, lines: await withSources(db, merchantId, lines) };
}

/** The account behind a balance as GET /v1/balances names it; undefined for every other name. */
export function accountOfBalance(name: string): Account | undefined {
  if (name === 'payout_balance') return 'payable_available';
  if (name === 'available_balance') return 'payable_pending';
  return name === 'owed_balance' ? debtAccount : undefined;
}

/**
 * The account that an operator names: one of the ledger, or a balance by its name in the API, which is the name that a merchant
 * asks about. Undefined where there is no such kind of account.
 */
export function parseAccount(text: string): Account | undefined {
  const kind = text.split(':', 1)[0] ?? '';
  return accountOfBalance(text) ?? (Object.hasOwn(accountKinds, kind) ? (text as Account) : undefined);
}

/**
 * The account that a merchant names: a balance as GET /v1/balances calls it, or a sub-account's, also a deleted one's.
 * Throws AppError `invalid_request` naming the field.
 */
export async function readAccountName(db: Queryable, merchantId: string, name: string): Promise<Account> {
  const balanceAccount = accountOfBalance(name);
  if (balanceAccount) return balanceAccount;
  const [kind, id = '', part, ...rest] = name.split(':');
  const isPending = part === 'pending' && kind === 'sub';
  const isKind = kind === 'sub' || kind === 'sub_owed';
  const isWellFormed = isKind && isUuid(id) && (isPending || part === undefined) && rest.length === 0;
  if (isWellFormed && (await subAccountExisted(db, merchantId, id))) {
    // The ledger has ids in lower case; a request may send capitals.
    const subAccountId = id.toLowerCase();
    if (kind === 'sub_owed') return owedAccount(subAccountId);
    return isPending ? pendingAccount(subAccountId) : settledAccount(subAccountId);
  }
  const message =
    'Account not found. Send payout_balance, available_balance, owed_balance, sub:<id of a sub-account>, ' +
    'sub:<id>:pending for its pending money, or sub_owed:<id> for what it owes you.';
  throw fieldError('invalid_request', 'account', message);
}
