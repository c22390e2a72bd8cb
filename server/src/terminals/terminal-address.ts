import { createHmac } from 'node:crypto';
import { isSameText } from '../kit/same-text.ts';
import type { TerminalAddressSettings, VirtualTerminal } from './terminal.ts';

// Crockford's 32 signs: no I, L, O or U, so that none is taken for another on a worn poster. What is read as one of the
// letters that look like a digit is that digit.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const checkLength = 4;
const addressPattern = /^([1-9]\d{6})(?:-([0-9A-Z]{4}))?$/;

/** What somebody scanned or typed: the code, and the check where there is one. */
export interface TerminalAddress {
  code: string;
  check: string | null;
}

/** What a QR code holds. */
export function qrCodeUrl(settings: TerminalAddressSettings, { code }: Pick<VirtualTerminal, 'code'>): string {
  return `${settings.publicUrl()}/pos/${code}-${terminalCheck(settings.terminalKey, code)}`;
}

/** The end of a counter's address: a code, or a code with a check. Null for what can be neither. */
export function readTerminalAddress(text: string): TerminalAddress | null {
  const [, code, check = null] = addressPattern.exec(text.toUpperCase()) ?? [];
  if (code === undefined) return null;
  return { code, check: check === null ? null : check.replaceAll('O', '0').replaceAll(/[IL]/g, '1') };
}

/**
 * The four characters behind a code that only this installation can make: a made-up sticker with somebody's code, or a
 * code that was guessed, has them by chance once in a million.
 */
export function terminalCheck(key: string, code: string): string {
  const digest = createHmac('sha256', key).update(code).digest();
  return [...digest.subarray(0, checkLength)].map((byte) => alphabet.charAt(byte % alphabet.length)).join('');
}

/** Whether the check is the code's; takes the same time whatever is wrong with it. */
export function isTerminalCheck(key: string, { code, check }: { code: string; check: string }): boolean {
  return isSameText(check, terminalCheck(key, code));
}
