import { listSubAccountNames } from '../../sub-accounts/manage-sub-accounts.ts';
import { subAccountOn, subAccountOwing } from '../../sub-accounts/ledger-accounts.ts';
import type { Account } from '../../ledger/accounts.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { Visit } from '../visit.ts';

/** The names of sub-accounts by their ids; a deleted one keeps its name. */
export async function subAccountNames(
  { money, merchant }: Visit,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await listSubAccountNames(money.db, merchant.id, ids);
  return new Map(rows.map(({ id, name }) => [id, cleanText(name)]));
}

const accountTexts: Readonly<Record<string, string>> = {
  payable_available: 'your balance',
  payable_pending: 'your money that settles',
  held: 'held money',
  fees: 'the fee',
  network_costs: 'the network’s cut',
  suspense: 'money that is checked',
  receivable_merchant: 'what you owe',
  due_from_subs: 'what sub-accounts owe you',
  test_funding: 'test money',
  received_directly: 'what you have received directly',
};

/** An account of the ledger in the words of the shop. */
export function accountText(
  account: Account,
  names: ReadonlyMap<string, string>,
  networkOf: (railAccount: string) => string | undefined,
): string {
  const owing = subAccountOwing(account);
  if (owing !== null) return `what ${names.get(owing) ?? 'a sub-account'} owes`;
  const subAccount = subAccountOn(account);
  if (subAccount !== null) return names.get(subAccount) ?? 'a sub-account';
  const [kind = '', rest = ''] = account.split(':');
  if (kind === 'till') return 'your own number';
  if (kind === 'float') return networkOf(rest) ?? 'the network';
  return accountTexts[account] ?? account;
}
