import { formatAmount } from '../../kit/money.ts';
import type { Receipt } from './match-message.ts';

/** What a message says, by name; null is what it does not say. For the operator who tries a template. */
export function receiptInWords(receipt: Receipt): readonly (readonly [name: string, value: string | null])[] {
  const { template, transactionId, amountMinor, payerNumber, payerName, balanceMinor, timeText } = receipt;
  return [
    ['template', template.name],
    ['amount', formatAmount(amountMinor)],
    ['transaction id', transactionId],
    ['payer’s number', payerNumber],
    ['payer’s name', payerName],
    ['balance after it', balanceMinor === null ? null : formatAmount(balanceMinor)],
    ['time', timeText],
  ];
}

/** Of a template that is made from what the network documents, and not from a message. */
export const unconfirmedText = 'Nobody has compared this template with a real message yet.';
