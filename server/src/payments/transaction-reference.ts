import type { Random } from '../kit/random.ts';

// Letters and digits that nobody confuses when they are read out across a counter.
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const suffixLength = 8;

/** `TX-YYYYMMDD-HHMMSS-XXXXXXXX` in UTC, which is the time in The Gambia all year (docs/api.md, "The record of a transaction"). */
export function transactionReference(now: Date, random: Random): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const suffix = Array.from(random.bytes(suffixLength), (byte) => alphabet[byte % alphabet.length]).join('');
  return `TX-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${suffix}`;
}

const shortCodeLength = 4;

/** The reference's last four characters, which staff compare across the counter with the payer's receipt. */
export function shortCodeOf(reference: string): string {
  return reference.slice(-shortCodeLength);
}
