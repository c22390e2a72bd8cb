import { canonicalAccountNumber } from '../kit/account-number.ts';
import { fieldError } from '../kit/app-error.ts';
import type { Caller } from '../kit/route.ts';
import { refuseWithoutNetwork } from '../networks/registry.ts';
import type { SubAccount, SubAccountContext } from './sub-account.ts';

/** The network that pays a sub-account out. Throws AppError `network_not_available` naming `path`. */
export function readSettlementCode(
  context: Pick<SubAccountContext, 'networks'>,
  caller: Caller,
  { code, path }: { code: string; path: string },
): Pick<SubAccount, 'settlementCode'> {
  refuseWithoutNetwork(context.networks, caller, path);
  const names = context.networks
    .list(caller.testMode)
    .filter(({ payouts }) => payouts !== null)
    .map(({ capabilities }) => capabilities.network);
  if (names.includes(code)) return { settlementCode: code };
  const choices = names.length === 0 ? 'No network pays out in this environment.' : `Choose among ${names.join(', ')}.`;
  throw fieldError('network_not_available', path, `${code} cannot pay out. ${choices}`);
}

/** The number there, in any usual form. Throws AppError `account_number_invalid` naming `path`. */
export function readAccountNumber(
  caller: Caller,
  { number, path }: { number: string; path: string },
): Pick<SubAccount, 'accountNumber' | 'accountCanonical'> {
  const accountCanonical = canonicalAccountNumber(number, { strict: !caller.testMode, path });
  return { accountNumber: number, accountCanonical };
}
