import { createHmac } from 'node:crypto';
import { isSameText } from '../kit/same-text.ts';
import type { TerminalAddressSettings, VirtualTerminal } from './terminal.ts';

// Crockford's base 32, without I, L, O and U, stays legible on a worn poster. I and L are read as 1, and O as 0.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const checkLength = 4;
const addressPattern = /^([1-9]\d{6})([0-9A-Z]{4})?$/;
// What people write between the groups of a code, and invisible characters that come with a copied text.
const separators = /[\s+.\p{Pd}\p{Cf}]+/gu;

/** A scanned or typed address: the code, and the check if there is one. */
export interface TerminalAddress {
  code: string;
  check: string | null;
}

/** The content of the QR code. */
export function qrCodeUrl(settings: TerminalAddressSettings, { code }: Pick<VirtualTerminal, 'code'>): string {
  return settings.publicUrl() + scannedPath(settings.terminalKey, code);
}

/** The path of a counter's page as its QR code has it. */
export function scannedPath(terminalKey: string, code: string): string {
  return `${typedPath(code)}-${terminalCheck(terminalKey, code)}`;
}

/** The path of a counter's page without the check: the page first asks the payer to confirm the counter. */
export function typedPath(code: string): string {
  return `/pos/${code}`;
}

/**
 * Parses what was scanned or typed: a code as on the poster (`471 8205`) or in one word, or a code with its check
 * (`4718205-7KQ2`). Null for anything else.
 */
export function readTerminalAddress(text: string): TerminalAddress | null {
  const [, code, check = null] = addressPattern.exec(text.replaceAll(separators, '').toUpperCase()) ?? [];
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
