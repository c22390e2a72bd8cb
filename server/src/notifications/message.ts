import { formatAmount } from '../kit/money.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';
import { receivedMinor, type Charge } from '../payments/charge.ts';
import { shortCodeOf } from '../payments/transaction-reference.ts';

/** The payment that a notice reports. */
export interface NoticeDetails {
  charge: Pick<
    Charge,
    'accountNumber' | 'amountPaidMinor' | 'amountReceivedMinor' | 'createdAt' | 'paidAt' | 'transactionReference'
  >;
  /** The network's display name. */
  networkName: string;
  terminalName: string;
  merchantName: string;
  testMode: boolean;
}

export interface NoticeText {
  message: string;
  templateParts: readonly string[];
}

/**
 * The text that staff compare with the receipt on the payer's phone: as a whole, and as parts in the order of the template
 * (docs/notifications.md). It begins with amount and code, because a locked phone shows only the first line. Every part is one
 * line without control characters, so that none can imitate another part.
 */
export function noticeText(details: NoticeDetails): NoticeText {
  const { charge } = details;
  const amount = formatAmount(receivedMinor(charge));
  const counter = `${line(details.terminalName)}, ${line(details.merchantName)}`;
  const payer = maskPhoneNumber(charge.accountNumber ?? '') || 'a number that is not shown';
  const method = line(details.networkName);
  const time = timeText(charge.paidAt ?? charge.createdAt);
  const reference = line(charge.transactionReference);
  const code = shortCodeOf(reference);
  const lines = [
    `${details.testMode ? 'Test, no real money: ' : ''}${amount} · ${code}`,
    `Counter: ${counter}`,
    `Time: ${time}`,
    `Network: ${method}, from ${payer}`,
    `Reference: ${reference}`,
  ];
  return { message: lines.join('\n'), templateParts: [amount, code, counter, time, method, payer, reference] };
}

// Long names would push the amount and reference off the screen of a locked phone.
const lineLengthMax = 80;

// Control characters, bidirectional formatting (Unicode, UAX 9) and invisible marks.
const controlCharacters = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Untrusted text as one line; never empty, because templates refuse an empty part. */
function line(text: string): string {
  const cleaned = Array.from(text.replace(/\s+/g, ' ').replace(controlCharacters, '').trim());
  const shown = cleaned.length > lineLengthMax ? `${cleaned.slice(0, lineLengthMax - 1).join('')}…` : cleaned.join('');
  return shown === '' ? '–' : shown;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `20 Nov 2026, 10:18`. The Gambia uses UTC all year, so this is local time. */
function timeText(time: Date): string {
  const clockTime = time.toISOString().slice(11, 16);
  return `${time.getUTCDate()} ${monthNames[time.getUTCMonth()] ?? ''} ${time.getUTCFullYear()}, ${clockTime}`;
}
