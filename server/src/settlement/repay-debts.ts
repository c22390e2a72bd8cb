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
 * Sub-accounts in debt repay from their settled balance: none is paid out while it owes. Credits repay by themselves; this
 * catches a credit that was concurrent with the beginning of the debt. For a caller that spends afterwards, `lockMerchant`
 * locks the merchant's accounts, and `accounts` are those of sub-accounts: all are locked in the order of their names.
 * Returns the balances of the sub-accounts' accounts.
 */
export async function repayFromSettled(
  tx: Transaction,
  context: Pick<TransferContext, 'clock' | 'newId'>,
  merchant: Merchant,
  query: { subAccountIds: readonly string[]; accounts: readonly Account[]; lockMerchant?: () => Promise<void> },
): Promise<ReadonlyMap<Account, bigint>> {
  const ledger = { merchantId: merchant.id, currency: merchant.currency };
  const debts = await debtAccounts(tx, ledger, query.subAccountIds);
  if (debts.length > 0) await lockBalance(tx, { ...ledger, account: 'due_from_subs' });
  await query.lockMerchant?.();
  const indebted = query.subAccountIds.filter((id) => debts.includes(owedAccount(id)));
  const accounts = [...new Set([...query.accounts, ...debts, ...indebted.map(settledAccount)])];
  const balances = await lockBalances(tx, ledger, accounts);
  for (const id of indebted) {
    const movements = settledRepayments(balances, [id]);
    // Each is a source of its own, so that it is a line of the sub-account's statement.
    const source = { type: 'sub_account', id };
    await post(tx, context, { ...ledger, flow: 'advance_repaid', source, movements, at: context.clock.now() });
    for (const { debit, amountMinor } of movements) balances.set(debit, (balances.get(debit) ?? 0n) - amountMinor);
  }
  return balances;
}

const batchRows = 100;

/** A chore: repays debts of sub-accounts that have a settled balance. Returns how many it found. */
export async function repaySubAccountDebts(context: TransferContext): Promise<number> {
  const found = await listRepayableDebts(context.db, batchRows);
  for (const { merchantId, currency, account } of found) {
    const id = subAccountOwing(account);
    assert(id !== null, 'the account of a debt names its sub-account');
    const merchant = { id: merchantId, currency };
    try {
      await context.db.withTransaction((tx) =>
        repayFromSettled(tx, context, merchant, { subAccountIds: [id], accounts: [] }),
      );
    } catch (error) {
      // One merchant's busy balance does not stop the others; the next sweep tries again.
      context.log.error('repaying a sub-account’s debt failed and will be retried', error, {
        merchant_id: merchantId,
      });
    }
  }
  return found.length;
}
