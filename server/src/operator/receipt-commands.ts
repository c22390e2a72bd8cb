import { UsageError } from '../kit/command-line.ts';
import { amountToJson } from '../kit/money.ts';
import { knownNetworks } from '../networks/known-networks.ts';
import { loadTemplates } from '../networks/receipts/load-templates.ts';
import { matchMessage, type Receipt } from '../networks/receipts/match-message.ts';
import { receiptInWords, unconfirmedText } from '../networks/receipts/receipt-in-words.ts';
import type { Command } from './command.ts';
import { receiptMatchCommands } from './receipt-match-commands.ts';

const tryTemplates: Command = {
  name: 'receipts try',
  usage: "--network <network> --text '<message>' [--sender <name>]",
  summary: 'Read a network’s message to a shop by the templates, as a forwarded one would be',
  details:
    '  Templates are files: those of Dalasi and those of the folder RECEIPT_TEMPLATES\n  (docs/receipts.md). Nothing is stored. Without --sender any sender passes.',
  async run({ installation }, { options }) {
    const network = options['network'] ?? '';
    const known = knownNetworks.map(({ id }) => id);
    if (!known.includes(network)) throw new UsageError(`--network is one of ${known.join(', ')}, not ${network}.`);
    const templates = loadTemplates(installation.receiptTemplates);
    const message = { network, sender: options['sender'] ?? null, text: options['text'] ?? '' };
    const receipt = matchMessage(templates, message);
    const ofNetwork = templates.filter((template) => template.network === network);
    return receipt
      ? { text: textOf(receipt), data: { ok: true, ...dataOf(receipt) }, exitCode: 0 as const }
      : { text: noTemplate(ofNetwork.map(({ name }) => name)), data: { ok: false }, exitCode: 1 as const };
  },
};

function noTemplate(names: readonly string[]): string {
  return `No template fits this message. Tried: ${names.join(', ')}. Add one to RECEIPT_TEMPLATES (docs/receipts.md).`;
}

function textOf(receipt: Receipt): string {
  const shown = receiptInWords(receipt)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.padEnd(18)}${value ?? ''}`);
  return [...shown, ...(receipt.template.confirmed ? [] : [unconfirmedText])].join('\n');
}

function dataOf({ template, transactionId, amountMinor, payerNumber, payerName, balanceMinor, timeText }: Receipt) {
  return {
    template: template.name,
    confirmed: template.confirmed,
    amount: amountToJson(amountMinor),
    transaction_id: transactionId,
    payer_number: payerNumber,
    payer_name: payerName,
    balance: balanceMinor === null ? null : amountToJson(balanceMinor),
    time: timeText,
  };
}

export const receiptCommands: readonly Command[] = [tryTemplates, ...receiptMatchCommands];
