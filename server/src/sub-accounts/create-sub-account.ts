import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { readAccountNumber, readSettlementCode } from './destination.ts';
import { insertSubAccount } from './queries.ts';
import type { SubAccount, SubAccountContext } from './sub-account.ts';

export interface NewSubAccount {
  name: string;
  percentHundredths: bigint;
  settlementCode: string;
  accountNumber: string;
  /** What leads the fields' names in a refusal. */
  prefix: string;
}

/** Throws AppError `network_not_available` and `account_number_invalid`. */
export function createSubAccount(
  tx: Transaction,
  context: SubAccountContext,
  caller: Caller,
  request: NewSubAccount,
): SubAccount {
  const { prefix } = request;
  const now = context.clock.now();
  const subAccount: SubAccount = {
    merchantId: caller.merchantId,
    id: context.newId(),
    name: request.name,
    percentHundredths: request.percentHundredths,
    ...readSettlementCode(context, caller, { code: request.settlementCode, path: `${prefix}settlement_code` }),
    ...readAccountNumber(caller, { number: request.accountNumber, path: `${prefix}account_number` }),
    active: true,
    createdAt: now,
    updatedAt: now,
  };
  tx.send(insertSubAccount(subAccount));
  return subAccount;
}
