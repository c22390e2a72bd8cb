import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { readAccountNumber, readSettlementCode } from './destination.ts';
import { getSubAccountForChange } from './find-sub-account.ts';
import { updateSubAccountRow } from './queries.ts';
import type { SubAccount, SubAccountContext } from './sub-account.ts';

/** What is left out stays as it is. */
export interface SubAccountChange {
  name?: string | undefined;
  percentHundredths?: bigint | undefined;
  settlementCode?: string | undefined;
  accountNumber?: string | undefined;
  active?: boolean | undefined;
}

/**
 * For later payments only: the shares of those that exist are fixed on them. A change of nothing leaves everything as it
 * is. Throws AppError `not_found`, `network_not_available` and `account_number_invalid`.
 */
export async function updateSubAccount(
  tx: Transaction,
  context: SubAccountContext,
  caller: Caller,
  request: { id: string; change: SubAccountChange; prefix: string },
): Promise<SubAccount> {
  const { change, prefix } = request;
  const subAccount = await getSubAccountForChange(tx, caller.merchantId, request.id);
  if (Object.values(change).every((value) => value === undefined)) return subAccount;
  const { settlementCode, accountNumber } = change;
  const changed: SubAccount = {
    ...subAccount,
    name: change.name ?? subAccount.name,
    percentHundredths: change.percentHundredths ?? subAccount.percentHundredths,
    active: change.active ?? subAccount.active,
    ...(settlementCode === undefined
      ? {}
      : readSettlementCode(context, caller, { code: settlementCode, path: `${prefix}settlement_code` })),
    ...(accountNumber === undefined
      ? {}
      : readAccountNumber(caller, { number: accountNumber, path: `${prefix}account_number` })),
    updatedAt: context.clock.now(),
  };
  tx.send(updateSubAccountRow(changed));
  return changed;
}
