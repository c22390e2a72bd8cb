import type { JsonRecord } from '../events/kinds.ts';
import type { Queryable } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import { readBalances } from '../ledger/balances.ts';
import { debtAccount } from '../ledger/debt.ts';
import type { Merchant } from '../merchants/merchant.ts';

/**
 * What a merchant has: `payout_balance` can be spent now, `available_balance` waits for settlement. `owed_balance` is what
 * new payments repay first; it stands there only while something is owed.
 */
export async function balancesOf(db: Queryable, { id: merchantId, currency }: Merchant): Promise<JsonRecord> {
  const accounts = ['payable_pending', 'payable_available', debtAccount] as const;
  // As of one moment: what a settlement moves is in one of them, never in both.
  const balances = await readBalances(db, { merchantId, currency, accounts });
  const owedMinor = balances.get(debtAccount) ?? 0n;
  return {
    available_balance: amountToJson(balances.get('payable_pending') ?? 0n),
    payout_balance: amountToJson(balances.get('payable_available') ?? 0n),
    ...(owedMinor > 0n && { owed_balance: amountToJson(owedMinor) }),
    currency,
  };
}
