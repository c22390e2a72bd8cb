import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { lockBalances } from '../ledger/post.ts';
import { lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import { balanceAccounts, owedAccount } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from './context.ts';
import type { LockedTransfer } from './transfer.ts';

/** What stands on the accounts that an outcome books to, and which of its sub-accounts have been deleted. */
export interface LockedOutcome {
  balances: Map<Account, bigint>;
  deleted: ReadonlySet<string>;
}

/**
 * Locks everything that an outcome can book beside its hold: the records of whoever ordered the transfer, its sub-accounts,
 * then all accounts in the one order (docs/adr/0013). An outcome may be several bookings, such as a late payout with its
 * reversal, or a reversal with the end of its refund: the first of them locks for all. To be called again costs little.
 */
export async function lockOutcome(
  tx: Transaction,
  { transferOwners }: Pick<TransferContext, 'transferOwners'>,
  locked: LockedTransfer,
): Promise<LockedOutcome> {
  const { merchantId, currency, kind, subAccountId } = locked.transfer;
  const ofOwner = (await transferOwners[kind]?.lock(tx, locked)) ?? [];
  const ids = subAccountId === null ? ofOwner : [subAccountId, ...ofOwner];
  const deleted = await lockDeleted(tx, merchantId, ids);
  const ofMerchant: Account[] = ['fees', 'payable_available', 'payable_pending', debtAccount, 'suspense'];
  const ofSubAccounts = ids.flatMap((id) => [...balanceAccounts(id), owedAccount(id)]);
  const accounts: Account[] = ['due_from_subs', ...ofMerchant, ...ofSubAccounts];
  return { deleted, balances: await lockBalances(tx, { merchantId, currency }, accounts) };
}
