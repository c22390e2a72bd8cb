import type { Queryable } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { netEffectOf } from '../ledger/balances.ts';
import { settledOf } from '../sub-accounts/ledger-accounts.ts';
import type { Charge } from './charge.ts';

/**
 * What of a charge is still pending, by account in bututs: what the charge brought there, less what its refunds collected.
 * Other payments' money on the same accounts does not count.
 */
export async function waitingOf(
  db: Queryable,
  { merchantId, id, currency }: Pick<Charge, 'merchantId' | 'id' | 'currency'>,
  refundIds: readonly string[],
): Promise<Map<Account, bigint>> {
  const netEffect = await netEffectOf(db, { merchantId, currency, sourceIds: [id, ...refundIds] });
  return new Map([...netEffect].filter(([account, minor]) => settledOf(account) !== null && minor > 0n));
}
