import { AppError } from '../../api/app-error.ts';
import { readBalances } from '../../ledger/balances.ts';
import { debtAccount } from '../../ledger/debt.ts';
import { networkName } from '../../networks/known-networks.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { ofNetwork, type NetworkRegistry } from '../../networks/registry.ts';
import { heldUntil } from '../../settlement/plan-payout.ts';
import { owedAccount, pendingAccount, settledAccount } from '../../sub-accounts/ledger-accounts.ts';
import { getSubAccount } from '../../sub-accounts/manage-sub-accounts.ts';
import type { SubAccount } from '../../sub-accounts/sub-account.ts';
import type { Option } from '../../portal/patterns/fields.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';

/** A sub-account with its money, in bututs. */
export interface FoundSubAccount {
  subAccount: SubAccount;
  settledMinor: bigint;
  pendingMinor: bigint;
  /** What it owes the business for advances. */
  owedMinor: bigint;
  /** The business's own money, which pays the fee of a payout; and its own debt. */
  merchantMinor: bigint;
  merchantOwesMinor: bigint;
  /** `Wave .... 0001`. */
  destination: string;
  /** False where its network pays out nothing here: money that comes stays. */
  isPayable: boolean;
  /** Until when its payouts wait because the destination was changed; null: they do not. */
  heldUntil: Date | null;
}

/** Throws AppError `not_found`. */
export async function readSubAccount(
  { money, merchant, now }: Visit,
  id: string | undefined,
): Promise<FoundSubAccount> {
  if (id === undefined) throw new AppError('not_found', 'There is no such sub-account in this environment.');
  const subAccount = await getSubAccount(money.db, merchant.id, id);
  const [settled, pending, owed] = [settledAccount(id), pendingAccount(id), owedAccount(id)];
  const accounts = [settled, pending, owed, 'payable_available', debtAccount] as const;
  const balances = await readBalances(money.db, { merchantId: merchant.id, currency: merchant.currency, accounts });
  const { settlementCode, accountNumber } = subAccount;
  return {
    subAccount,
    settledMinor: balances.get(settled) ?? 0n,
    pendingMinor: balances.get(pending) ?? 0n,
    owedMinor: balances.get(owed) ?? 0n,
    merchantMinor: balances.get('payable_available') ?? 0n,
    merchantOwesMinor: balances.get(debtAccount) ?? 0n,
    destination: destinationText({ network: settlementCode, number: accountNumber }),
    isPayable: canPayOut(money.networks, merchant, settlementCode),
    heldUntil: heldUntil(merchant, subAccount, now),
  };
}

/** A network and the last digits of a number there. */
export function destinationText({ network, number }: { network: string; number: string }): string {
  return `${networkName(network)} ${maskPhoneNumber(number)}`;
}

export function canPayOut(networks: NetworkRegistry, merchant: Merchant, network: string): boolean {
  return ofNetwork(networks.payingOut(merchant), network) !== undefined;
}

/** The networks that pay out in this environment. */
export function payoutNetworks({ money, merchant }: Visit): Option[] {
  return money.networks
    .payingOut(merchant)
    .map(({ capabilities }) => ({ value: capabilities.network, text: capabilities.displayName }));
}

export function subAccountState({ active, isPayable }: { active: boolean; isPayable: boolean }): StateMark {
  if (!isPayable) return { tone: 'bad', icon: 'warning', text: 'Cannot be paid out' };
  return active ? { tone: 'good', icon: 'check', text: 'On' } : { tone: 'wait', icon: 'clock', text: 'Paused' };
}
