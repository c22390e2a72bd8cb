import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { networkName } from '../../networks/known-networks.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import type { Receipt, ReceiptStatus } from '../../receipts/receipt.ts';

const marks: Readonly<Record<ReceiptStatus, StateMark>> = {
  unconfirmed: { tone: 'wait', icon: 'clock', text: 'Unconfirmed' },
  confirmed: { tone: 'good', icon: 'check', text: 'Confirmed' },
  contradicted: { tone: 'bad', icon: 'warning', text: 'Contradicted' },
};

export function receiptMark({ status }: Pick<Receipt, 'status'>): StateMark {
  return marks[status];
}

/** What is known about it, in a sentence. */
export function proofText({ status }: Pick<Receipt, 'status'>): string {
  switch (status) {
    case 'unconfirmed':
      return 'A message of your phone says so, and no line of the statement yet.';
    case 'confirmed':
      return 'A line of the network’s statement says so.';
    case 'contradicted':
      return 'The network’s statement says something else.';
  }
}

/** `Wave .... 1234, Awa Ceesay` */
export function payerText(receipt: Pick<Receipt, 'network' | 'payerNumber' | 'payerName'>): Html {
  const { payerName, payerNumber } = receipt;
  const number = payerNumber === null ? '' : ` ${maskPhoneNumber(payerNumber)}`;
  return html`<span class="unbroken">${networkName(receipt.network)}${number}</span>${payerName !== null && html`, ${foreignText(payerName)}`}`;
}
