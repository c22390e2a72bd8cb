import { createHmac } from 'node:crypto';
import { isSameText } from '../kit/same-text.ts';
import type { TerminalAddressSettings, VirtualTerminal } from './terminal.ts';

// Crockford's base 32, without I, L, O and U, stays legible on a worn poster. I and L are read as 1, and O as 0.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const checkLength = 4;
const addressPattern = /^([1-9]\d{6})(?:-([0-9A-Z]{4}))?$/;

/** A scanned or typed address: the code, and the check if there is one. */
export interface TerminalAddress {
  code: string;
  check: string | null;
}

/** The content of the QR code. */
export function qrCodeUrl(settings: TerminalAddressSettings, { code }: Pick<VirtualTerminal, 'code'>): string {
  return `${settings.publicUrl()}/pos/${code}-${terminalCheck(settings.terminalKey, code)}`;
}

/** Parses the last part of a counter's URL: a code, or a code with a check. Null for anything else. */
export function readTerminalAddress(text: string): TerminalAddress | null {
  const [, code, check = null] = addressPattern.exec(text.toUpperCase()) ?? [];
  if (code === undefined) return null;
  return { code, check: check === null ? null : check.replaceAll('O', '0').replaceAll(/[IL]/g, '1') };
}

/**
 * The four characters after a code, a MAC under this installation's key. A forged sticker or a guessed code has the right ones
 * once in a million.
 */
export function terminalCheck(key: string, code: string): string {
  const digest = createHmac('sha256', key).update(code).digest();
  return [...digest.subarray(0, checkLength)].map((byte) => alphabet.charAt(byte % alphabet.length)).join('');
}

/** Whether the check belongs to the code, compared in constant time. */
export function isTerminalCheck(key: string, { code, check }: { code: string; check: string }): boolean {
  return isSameText(check, terminalCheck(key, code));
}
