import { verifyLedger } from '../ledger/verify.ts';
import type { LedgerFinding } from '../ledger/verify.ts';
import { verifyHolds } from '../transfers/verify-holds.ts';
import type { Command, CommandResult } from './command.ts';
import { merchantNames } from './merchant-of.ts';

const verify: Command = {
  name: 'ledger verify',
  usage: '',
  summary: 'Recompute every balance and compare held money with open work; exit code 1 names the first that is wrong',
  options: {},
  positionals: 0,
  async run({ db }) {
    const { movements, accounts, finding } = await verifyLedger(db);
    if (finding !== null) return wrong(finding, await merchantNames(db));
    const held = await verifyHolds(db);
    if (held !== null) return wrong({ check: 'held', account: 'held', ...held }, await merchantNames(db));
    return {
      text: `The ledger is right: ${counted(movements, 'movement')} on ${counted(accounts, 'account')}.`,
      data: { ok: true, movements: Number(movements), accounts: Number(accounts) },
      exitCode: 0,
    };
  },
};

function wrong(
  finding: Omit<LedgerFinding, 'currency'> & { currency?: string },
  merchants: ReadonlyMap<string, string>,
): CommandResult {
  const { check, merchantId, account, currency, message } = finding;
  const where = currency === undefined ? account : `${account} in ${currency}`;
  return {
    text: `The ledger is WRONG (${check}): merchant ${merchants.get(merchantId) ?? 'unknown'}, ${merchantId}, account ${where}: ${message}.`,
    data: { ok: false, check, merchant_id: merchantId, account, ...(currency && { currency }), message },
    exitCode: 1,
  };
}

function counted(count: bigint, noun: string): string {
  return `${count} ${noun}${count === 1n ? '' : 's'}`;
}

export const ledgerCommands: readonly Command[] = [verify];
