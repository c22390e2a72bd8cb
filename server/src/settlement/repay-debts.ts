import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { lockBalance, lockBalances, post } from '../ledger/post.ts';
import { debtAccounts, settledRepayments } from '../sub-accounts/debts.ts';
import { owedAccount, settledAccount, subAccountOwing } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import { listRepayableDebts } from './queries.ts';

interface Merchant {
  id: string;
  currency: string;
}

/**
 * Sub-accounts that owe repay from what they can be paid, as far as it goes: nobody is paid out while owing. What comes to
 * them repays by itself; this finds what came at the very moment at which the debt began. `lockMerchant` locks accounts of
 * the merchant's, and `others` are accounts of sub-accounts, for a caller who means to spend from them: everything is locked in
 * the one order that everybody keeps. Answers what the accounts of sub-accounts have afterwards.
 */
export async function repayFromSettled(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  merchant: Merchant,
  query: { subAccountIds: readonly string[]; others: readonly Account[]; lockMerchant?: () => Promise<void> },
): Promise<ReadonlyMap<Account, bigint>> {
  const at = { merchantId: merchant.id, currency: merchant.currency };
  const debts = await debtAccounts(tx, at, query.subAccountIds);
  if (debts.length > 0) await lockBalance(tx, { ...at, account: 'due_from_subs' });
  await query.lockMerchant?.();
  const indebted = query.subAccountIds.filter((id) => debts.includes(owedAccount(id)));
  const accounts = [...new Set([...query.others, ...debts, ...indebted.map(settledAccount)])];
  const balances = await lockBalances(tx, at, accounts);
  for (const id of indebted) {
    const movements = settledRepayments(balances, [id]);
    // Each under its own name, so that the sub-account's statement can tell of it.
    const source = { type: 'sub_account', id };
    await post(tx, context, { ...at, flow: 'advance_repaid', source, movements, at: context.clock.now() });
    for (const { debit, amountMinor } of movements) balances.set(debit, (balances.get(debit) ?? 0n) - amountMinor);
  }
  return balances;
}

const debtsAtOnce = 100;

/** A chore: sub-accounts that owe and have something that they could be paid. Answers how many there were. */
export async function repaySubAccountDebts(context: TransferContext): Promise<number> {
  const found = await listRepayableDebts(context.db, debtsAtOnce);
  for (const { merchantId, currency, account } of found) {
    const id = subAccountOwing(account);
    assert(id !== null, 'a debt has its sub-account');
    const merchant = { id: merchantId, currency };
    try {
      await context.db.withTransaction((tx) =>
        repayFromSettled(tx, context, merchant, { subAccountIds: [id], others: [] }),
      );
    } catch (error) {
      // One merchant's busy balance keeps no other from it; the next sweep tries again.
      context.log.error('repaying a sub-account’s debt failed and will be tried again', error, {
        merchant_id: merchantId,
      });
    }
  }
  return found.length;
}
