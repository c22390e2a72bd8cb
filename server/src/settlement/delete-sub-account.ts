import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { groupThatContains, lockSubAccount, markSubAccountDeleted } from '../sub-accounts/delete-sub-account.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { balanceAccounts } from '../sub-accounts/ledger-accounts.ts';
import { findOpenIntentOf, findTransferFrom } from './queries.ts';

/**
 * Deletes a sub-account that nothing uses any more; its history stays. Its row is locked first: payments and groups that
 * attach it, payouts of it, refunds that take of it and whatever gives it money hold the row too, so each of them comes
 * before and is seen here, or comes after and finds it deleted.
 *
 * Throws AppError `not_found` and `sub_account_in_use`.
 */
export async function deleteSubAccount(
  tx: Transaction,
  context: { clock: Clock },
  merchant: Merchant,
  id: string,
): Promise<void> {
  const subAccount = await lockSubAccount(tx, merchant.id, id);
  const now = context.clock.now();
  const use = await findUse(tx, merchant, { id: subAccount.id, now });
  if (use !== null) throw new AppError('sub_account_in_use', use);
  markSubAccountDeleted(tx, subAccount, now);
}

/**
 * What still uses it, and what to do about it. The balance is asked for last: money on its way arrives there when what
 * brings it ends, so what is no longer on its way is in the balance by then.
 */
async function findUse(
  tx: Transaction,
  { id: merchantId, currency }: Merchant,
  { id, now }: { id: string; now: Date },
): Promise<string | null> {
  const stop = 'set its active to false to stop using it meanwhile';
  const group = await groupThatContains(tx, merchantId, id);
  if (group)
    return `The sub-account is a member of the group ${group.name} (${group.id}). Take it out of the group first.`;
  const intentId = await findOpenIntentOf(tx, { merchantId, subAccountId: id, now });
  if (intentId !== undefined) {
    return `The open payment ${intentId} shares with the sub-account. Wait for its end or cancel it; ${stop}.`;
  }
  const accounts = balanceAccounts(id);
  const transfer = await findTransferFrom(tx, merchantId, accounts);
  if (transfer) {
    const what = transfer.kind === 'refund' ? 'A refund' : 'A payout';
    return `${what} of the sub-account’s money is under way (${transfer.id}). Wait for its outcome; ${stop}.`;
  }
  const balances = await readBalances(tx, { merchantId, currency, accounts });
  const balanceMinor = [...balances.values()].reduce((sum, minor) => sum + minor, 0n);
  if (balanceMinor > 0n) return `The sub-account still has ${formatAmount(balanceMinor)}. Pay it out first; ${stop}.`;
  const owedMinor = (await readDebts(tx, { merchantId, currency }, [id])).get(id) ?? 0n;
  if (owedMinor === 0n) return null;
  const owes = `The sub-account still owes you ${formatAmount(owedMinor)}, which you advanced for it`;
  return `${owes}. Its next shares repay it; or waive it (POST /v1/sub-accounts/${id}/waive-debt) and delete it then.`;
}
