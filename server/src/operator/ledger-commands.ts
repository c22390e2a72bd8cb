import { table, UsageError } from '../kit/command-line.ts';
import { isUuid } from '../kit/ids.ts';
import { amountToJson, formatAmount, moneyText } from '../kit/money.ts';
import { readTimeOption } from '../kit/time-option.ts';
import { accountKinds, type Account, type AccountKind } from '../ledger/accounts.ts';
import { explainAccount, parseAccount } from '../settlement/balance-movements.ts';
import { verifyBooks, type BooksFinding } from '../transfers/verify-books.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandResult } from './command.ts';
import { merchantNames, merchantOf } from './merchant-of.ts';

const verify: Command = {
  name: 'ledger verify',
  usage: '',
  summary: 'Recompute every balance and check all held money',
  details: '  With exit code 1 the output names the first account that is wrong.',
  async run(context) {
    const { db, onboarding } = context;
    const { finding, stored } = await verifyBooks(db, onboarding, (tx, { id, isCorrect }) =>
      auditCommand(tx, context, {
        ...{ action: 'ledger.verify', object: { type: 'verification', id }, sent: { is_correct: isCorrect } },
      }),
    );
    if (finding !== null) return wrong(finding, await merchantNames(db));
    const { movements, accounts } = stored;
    return {
      text: `The ledger is correct: ${counted(movements, 'movement')} on ${counted(accounts, 'account')}.`,
      data: { ok: true, movements: Number(movements), accounts: Number(accounts) },
      exitCode: 0,
    };
  },
};

function wrong(finding: BooksFinding, merchants: ReadonlyMap<string, string>): CommandResult {
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

const linesDefault = 50;
const linesMax = 1_000;

const explain: Command = {
  name: 'ledger explain',
  usage: '--merchant <merchant id> --account <account> [--at <time>] [--limit <lines>] [--before <movement id>]',
  summary: 'List the movements behind a balance, newest first',
  details:
    '  The account is an account of the ledger, such as payable_available or sub:<id>,\n  or a balance by its name in the API: payout_balance, available_balance,\n  owed_balance.',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const account = readAccount(input.options['account'] ?? '');
    const atText = input.options['at'];
    const time =
      atText === undefined ? null : readTimeOption(context.clock, { option: 'at', text: atText, ofDay: 'last' });
    const limit = readLimit(input.options['limit']);
    const before = readBefore(input.options['before']);
    const { balanceMinor, lines } = await explainAccount(context.db, merchant, {
      account,
      at: time,
      before,
      rowsMax: limit + 1,
    });
    const shown = lines.slice(0, limit);
    const last = lines.length > limit ? shown.at(-1)?.id : undefined;
    const rows = shown.map((line) => [
      line.at.toISOString(),
      line.flow,
      `${line.source.type} ${line.source.id}`,
      formatAmount(line.changeMinor, { style: 'plain' }),
      formatAmount(line.balanceMinor, { style: 'plain' }),
    ]);
    const moment = time === null ? 'now' : `at ${time.toISOString()}`;
    const text = [
      `${account} of ${merchant.name} (${merchant.id}) has ${moneyText({ currency: merchant.currency, amountMinor: balanceMinor })} ${moment}.`,
      rows.length === 0 ? nothingBooked : table(['TIME', 'FLOW', 'SOURCE', 'AMOUNT', 'BALANCE'], rows),
      ...(last === undefined ? [] : [`Older movements: add --before ${last}`]),
    ].join('\n');
    const data = {
      merchant_id: merchant.id,
      account,
      at: time?.toISOString() ?? null,
      currency: merchant.currency,
      balance: amountToJson(balanceMinor),
      movements: shown.map((line) => ({
        id: line.id,
        at: line.at.toISOString(),
        flow: line.flow,
        source_type: line.source.type,
        source_id: line.source.id,
        amount: amountToJson(line.changeMinor),
        balance: amountToJson(line.balanceMinor),
      })),
      before: last ?? null,
    };
    return { text, data, exitCode: 0 };
  },
};

// An account without movements looks like one whose name was mistyped.
const nothingBooked = 'No movements. If you expected some, check the spelling of the account.';

function readAccount(text: string): Account {
  const account = parseAccount(text);
  if (account !== undefined) return account;
  const kind = text.split(':', 1)[0] ?? '';
  const kinds = (Object.keys(accountKinds) as AccountKind[]).join(', ');
  throw new UsageError(
    `There is no kind of account ${kind}. The kinds are ${kinds}; some take a name after a colon, such as sub:<id>.`,
  );
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return linesDefault;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= linesMax) return limit;
  throw new UsageError(`--limit is a whole number from 1 to ${linesMax}, not ${text}.`);
}

function readBefore(text: string | undefined): string | null {
  if (text === undefined || isUuid(text)) return text ?? null;
  throw new UsageError('--before is the id of a movement, as the last line of the output shows it.');
}

export const ledgerCommands: readonly Command[] = [verify, explain];
