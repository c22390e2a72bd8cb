import { AppError, fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { endUnpaid, netDebt } from '../ledger/debt.ts';
import { lockBalance } from '../ledger/post.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { getSubAccountForChange } from '../sub-accounts/manage-sub-accounts.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import type { TransferContext } from '../transfers/context.ts';

/**
 * The merchant waives `amountMinor` bututs of what a sub-account owes it. A waiver gives the sub-account no claim: if the
 * refund or payout of an advance is undone later, the waived money is the merchant's. The request names the amount, so that
 * debt the merchant has not seen yet is not waived with it.
 *
 * Throws AppError `not_found`; `merchant_owes` while the merchant owes, because repayments of the sub-account would repay
 * that first; and `amount_out_of_bounds` where the sub-account owes less, or more sources added to the debt than `endUnpaid`
 * ends in one call.
 */
export async function waiveDebt(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  merchant: Merchant,
  { subAccountId, amountMinor }: { subAccountId: string; amountMinor: bigint },
): Promise<SubAccount> {
  const subAccount = await getSubAccountForChange(tx, merchant.id, subAccountId);
  const debtor = { merchantId: merchant.id, currency: merchant.currency, at: context.clock.now() };
  const debt = owedAccount(subAccount.id);
  // In the order of their names, together with the accounts that netting locks.
  await lockBalance(tx, { ...debtor, account: 'due_from_subs' });
  const { owedMinor: merchantOwesMinor } = await netDebt(tx, context, debtor);
  const owedMinor = await lockBalance(tx, { ...debtor, account: debt });
  if (amountMinor <= 0n || amountMinor > owedMinor) {
    const message = `The sub-account owes you ${formatAmount(owedMinor)}. Send an amount above 0 and at most that.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  if (merchantOwesMinor > 0n) {
    const message = `You owe ${formatAmount(merchantOwesMinor)}, and repayments of the sub-account repay that first. Waive its debt once yours is repaid.`;
    throw new AppError('merchant_owes', message);
  }
  const endedMinor = await endUnpaid(tx, context, {
    ...debtor,
    debt,
    kind: 'sub_owed',
    debit: 'due_from_subs',
    flow: 'debt_waived',
    amountMinor,
    otherwise: { type: 'sub_account', id: subAccount.id },
  });
  if (endedMinor < amountMinor) {
    const message = `Too many refunds and payouts caused this debt to waive it at once. Waive ${formatAmount(endedMinor)} first, then the rest.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  return subAccount;
}
