import { verifyLedger } from '../ledger/verify.ts';
import type { Command } from './command.ts';

const verify: Command = {
  name: 'ledger verify',
  usage: '',
  summary: 'Recompute every balance from its movements; exit code 1 names the first that is wrong',
  options: {},
  positionals: 0,
  async run({ db }) {
    const { movements, accounts, finding } = await verifyLedger(db);
    const counted = `${movements} movements on ${accounts} accounts`;
    if (finding === null) {
      return {
        text: `The ledger is right: ${counted}.`,
        data: { ok: true, movements: Number(movements), accounts: Number(accounts) },
        exitCode: 0,
      };
    }
    const { check, merchantId, account, currency, message } = finding;
    return {
      text: `The ledger is WRONG (${check}): merchant ${merchantId}, account ${account} in ${currency}: ${message}.`,
      data: { ok: false, check, merchant_id: merchantId, account, currency, message },
      exitCode: 1,
    };
  },
};

export const ledgerCommands: readonly Command[] = [verify];
