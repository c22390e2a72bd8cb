import { fieldError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { getSubAccountForChange } from '../sub-accounts/manage-sub-accounts.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import type { TransferContext } from '../transfers/context.ts';

/**
 * The merchant gives a sub-account `amountMinor` bututs of what it owes: nothing repays them any more, also where the refund
 * comes to nothing that the money was advanced for. The amount is named, so that what it has come to owe since the merchant
 * looked is not waived with it.
 *
 * Throws AppError `not_found`, and `amount_out_of_bounds` where it does not owe that much.
 */
export async function waiveDebt(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  merchant: Merchant,
  { subAccountId, amountMinor }: { subAccountId: string; amountMinor: bigint },
): Promise<SubAccount> {
  const subAccount = await getSubAccountForChange(tx, merchant.id, subAccountId);
  const at = { merchantId: merchant.id, currency: merchant.currency };
  const owed = owedAccount(subAccount.id);
  const owedMinor = (await lockBalances(tx, at, ['due_from_subs', owed])).get(owed) ?? 0n;
  if (amountMinor <= 0n || amountMinor > owedMinor) {
    const message = `The sub-account owes you ${formatAmount(owedMinor)}. Name an amount above 0 and at most that.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  await post(tx, context, {
    ...at,
    flow: 'debt_waived',
    source: { type: 'sub_account', id: subAccount.id },
    movements: [{ debit: 'due_from_subs', credit: owed, amountMinor }],
    at: context.clock.now(),
  });
  return subAccount;
}
