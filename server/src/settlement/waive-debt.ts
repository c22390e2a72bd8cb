import type { Transaction } from '../kit/db.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { getSubAccountForChange } from '../sub-accounts/find-sub-account.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import type { TransferContext } from '../transfers/context.ts';

/**
 * The merchant gives a sub-account what it owes: nothing repays it any more, also where the refund comes to nothing that the
 * money was advanced for. Where it owes nothing, nothing happens.
 *
 * Throws AppError `not_found`.
 */
export async function waiveDebt(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  merchant: Merchant,
  id: string,
): Promise<SubAccount> {
  const subAccount = await getSubAccountForChange(tx, merchant.id, id);
  const at = { merchantId: merchant.id, currency: merchant.currency };
  const owed = owedAccount(subAccount.id);
  const balances = await lockBalances(tx, at, ['due_from_subs', owed]);
  await post(tx, context, {
    ...at,
    flow: 'debt_waived',
    source: { type: 'sub_account', id: subAccount.id },
    movements: [{ debit: 'due_from_subs', credit: owed, amountMinor: balances.get(owed) ?? 0n }],
    at: context.clock.now(),
  });
  return subAccount;
}
