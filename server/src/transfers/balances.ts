import type { JsonRecord } from '../events/kinds.ts';
import type { Queryable } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import { readBalance } from '../ledger/balances.ts';
import type { Merchant } from '../merchants/merchant.ts';

/** What a merchant has: `payout_balance` can be spent now, `available_balance` waits for settlement. */
export async function balancesOf(db: Queryable, { id: merchantId, currency }: Merchant): Promise<JsonRecord> {
  const read = (account: 'payable_pending' | 'payable_available') => readBalance(db, { merchantId, account, currency });
  return {
    available_balance: amountToJson(await read('payable_pending')),
    payout_balance: amountToJson(await read('payable_available')),
    currency,
  };
}
