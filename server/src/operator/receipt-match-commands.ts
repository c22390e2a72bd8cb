import { table, UsageError } from '../kit/command-line.ts';
import { amountToJson, formatAmount } from '../kit/money.ts';
import { lockTerms } from '../merchants/manage-rules.ts';
import { findReceiptConfirmAbove, updateReceiptConfirmAbove } from '../merchants/receipt-limit.ts';
import { findDecision, matchByPerson } from '../payments/match-by-person.ts';
import { proposalsFor } from '../payments/unmatched-receipts.ts';
import { listUnmatchedReceipts } from '../receipts/receipt-store.ts';
import { readAmount } from './amount-option.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';
import type { Merchant } from '../merchants/merchant.ts';

const rowsMax = 50;

const list: Command = {
  name: 'receipts list',
  usage: '--merchant <merchant id>',
  summary: `List the newest ${rowsMax} receipts that have paid nothing, with the payments that they may belong to`,
  details: '  Number and amount propose a payment and prove nothing: a stranger may have paid the same to the till.',
  async run(context, input) {
    const { id } = await merchantOf(context, input);
    const { db, lists } = await context.moneyWork();
    const { rows } = await listUnmatchedReceipts(lists, id, { limit: rowsMax, offset: 0, before: null }, {});
    const receipts = [];
    for (const receipt of rows) {
      const proposed = (await proposalsFor(db, receipt)).map(({ charge }) => charge);
      receipts.push({ receipt, proposed });
    }
    const data = receipts.map(({ receipt, proposed }) => ({
      ...{ id: receipt.id, network: receipt.railAccount, transaction_id: receipt.transactionId },
      ...{ amount: amountToJson(receipt.amountMinor), status: receipt.status, dated_at: receipt.datedAt.toISOString() },
      proposed: proposed.map(({ transactionReference }) => transactionReference),
    }));
    const cells = receipts.map(({ receipt, proposed }) => [
      ...[receipt.id, receipt.railAccount, receipt.transactionId, formatAmount(receipt.amountMinor), receipt.status],
      ...[receipt.datedAt.toISOString(), proposed.map(({ transactionReference }) => transactionReference).join(', ')],
    ]);
    const headings = ['ID', 'NETWORK', 'TRANSACTION', 'AMOUNT', 'STATUS', 'DATED', 'MAY BELONG TO'];
    return { text: cells.length === 0 ? 'Every receipt has its payment.' : table(headings, cells), data, exitCode: 0 };
  },
};

const match: Command = {
  name: 'receipts match',
  usage: '<receipt id> --merchant <merchant id> --transaction <reference>',
  summary: 'Decide that a receipt paid a payment of the same till and amount',
  async run(context, { positionals: [receiptId = ''], ...input }) {
    const merchant = await merchantOf(context, { ...input, positionals: [] });
    const money = await context.moneyWork();
    const reference = input.options['transaction'] ?? '';
    const decision = await findDecision(money.db, merchant.id, { receiptId, payment: reference });
    const { charge } = decision;
    await matchByPerson(money, decision, (tx) =>
      auditCommand(tx, context, {
        ...{
          ...aboutMerchant(merchant),
          action: 'receipts.match',
          sent: { receipt: receiptId, transaction: charge.id },
        },
      }),
    );
    const text = `${charge.transactionReference} of ${merchantInWords(merchant)} is paid by this receipt.`;
    return { text, data: { receipt: receiptId, transaction_id: charge.id }, exitCode: 0 };
  },
};

const limit: Command = {
  name: 'receipts limit',
  usage: '--merchant <merchant id> [--above <dalasi> | --none]',
  summary: 'Show or set the amount above which a statement line must confirm a receipt before it pays',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const above = readAmount(input, 'above');
    const isNone = input.flags.has('none');
    if (above !== undefined && isNone) throw new UsageError('Give either --above or --none.');
    if (above !== undefined || isNone) await setLimit(context, merchant, above ?? null);
    const limitMinor = await findReceiptConfirmAbove(context.db, merchant.id);
    const text =
      limitMinor === null
        ? `${merchantInWords(merchant)}: a message of the network is enough for every amount.`
        : `${merchantInWords(merchant)}: above ${formatAmount(limitMinor)} a statement line must confirm a receipt first.`;
    return { text, data: { above: limitMinor === null ? null : amountToJson(limitMinor) }, exitCode: 0 };
  },
};

async function setLimit(context: CommandContext, merchant: Merchant, limitMinor: bigint | null): Promise<void> {
  const inWords = (minor: bigint | null): string => (minor === null ? 'none' : formatAmount(minor));
  await context.db.withTransaction(async (tx) => {
    await lockTerms(tx);
    const before = await findReceiptConfirmAbove(tx, merchant.id);
    tx.send(updateReceiptConfirmAbove(merchant.id, limitMinor));
    auditCommand(tx, context, {
      ...{ ...aboutMerchant(merchant), action: 'receipts.limit' },
      ...{ sent: { above: inWords(limitMinor) }, before: { above: inWords(before) } },
    });
  });
}

export const receiptMatchCommands: readonly Command[] = [list, match, limit];
