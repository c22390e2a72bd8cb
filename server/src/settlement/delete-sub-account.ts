import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { readDebts } from '../sub-accounts/debts.ts';
import { balanceAccounts } from '../sub-accounts/ledger-accounts.ts';
import { findGroupOf } from '../sub-accounts/manage-groups.ts';
import { getSubAccountForDeletion, markSubAccountDeleted } from '../sub-accounts/manage-sub-accounts.ts';
import { payoutMinimumMinor } from './plan-payout.ts';
import { findOpenIntentOf, findTransferFrom } from './queries.ts';

/**
 * Deletes a sub-account that is no longer in use; its history stays. Its row is locked first. Payments and groups that attach
 * it, its payouts, refunds of its shares and credits to it lock the row too, so each of them comes before and is seen here,
 * or comes after and finds it deleted.
 *
 * Throws AppError `not_found` and `sub_account_in_use`.
 */
export async function deleteSubAccount(tx: Transaction, clock: Clock, merchant: Merchant, id: string): Promise<void> {
  const subAccount = await getSubAccountForDeletion(tx, merchant.id, id);
  const now = clock.now();
  const use = await findUse(tx, merchant, { id: subAccount.id, now });
  if (use !== null) throw new AppError('sub_account_in_use', use);
  tx.send(markSubAccountDeleted(subAccount, now));
}

/**
 * What still uses the sub-account, and what to do about it; null where nothing does. The balance is read last: money of a
 * payment or transfer that has ended meanwhile is in the balance by then.
 */
async function findUse(
  tx: Transaction,
  { id: merchantId, currency }: Merchant,
  { id, now }: { id: string; now: Date },
): Promise<string | null> {
  const stop = 'set its active to false to stop using it meanwhile';
  const group = await findGroupOf(tx, merchantId, id);
  if (group)
    return `The sub-account is a member of the group ${group.name} (${group.id}). Remove it from the group first.`;
  const intentId = await findOpenIntentOf(tx, { merchantId, subAccountId: id, now });
  if (intentId !== undefined) {
    return `The open payment ${intentId} shares with the sub-account. Wait for its end or cancel it; ${stop}.`;
  }
  const accounts = balanceAccounts(id);
  const transfer = await findTransferFrom(tx, merchantId, accounts);
  if (transfer) {
    const what = transfer.kind === 'refund' ? 'A refund' : 'A payout';
    return `${what} of the sub-account’s money is pending (${transfer.id}). Wait for its outcome; ${stop}.`;
  }
  const balances = await readBalances(tx, { merchantId, currency, accounts });
  const balanceMinor = [...balances.values()].reduce((sum, minor) => sum + minor, 0n);
  if (balanceMinor >= payoutMinimumMinor) {
    return `The sub-account still has ${formatAmount(balanceMinor)}. Pay it out first; ${stop}.`;
  }
  if (balanceMinor > 0n) {
    const has = `The sub-account still has ${formatAmount(balanceMinor)}`;
    const message = `${has}, and a payout needs at least ${formatAmount(payoutMinimumMinor)}`;
    return `${message}. Collect more with payments that name it, or refund the payments that it comes from; ${stop}.`;
  }
  const owedMinor = (await readDebts(tx, { merchantId, currency }, [id])).get(id) ?? 0n;
  if (owedMinor === 0n) return null;
  const owes = `The sub-account still owes you ${formatAmount(owedMinor)}, which you advanced for it`;
  return `${owes}. Wait until its next shares have repaid it, or waive it (POST /v1/sub-accounts/${id}/waive-debt).`;
}
