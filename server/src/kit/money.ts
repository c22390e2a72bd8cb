import { assert } from './assert.ts';

/** An invalid amount or percentage. The message says what to send instead. */
export class AmountError extends Error {
  override name = 'AmountError';
}

/** Half up: exactly half goes up. Nothing here is negative. */
export type PercentRounding = 'half-up' | 'half-up-to-whole';

export interface AmountFormat {
  /** `page` is `D1,250.00`, for people; `plain` is `1250.00`, for files and fields. */
  style?: 'page' | 'plain';
}

/** One dalasi in bututs (ISO 4217: GMD has two decimals). */
export const dalasi = 100n;

// A JSON number of up to 15 digits is exact in a double; 10,000,000,000,000 dalasi exceed any amount.
const minorMaxInJson = 999_999_999_999_999n;

/** A hundred percent with two decimals, as a whole number of hundredths. */
export const wholePercent = 10_000n;

const groupedWhole = new Intl.NumberFormat('en-US');

/**
 * The bututs of a JSON number of dalasi. It is read from the number's decimal text, which is the text that was sent because
 * parseStrictJson refuses every other number; no arithmetic is done on the number.
 */
export function parseAmount(value: number, field = 'amount'): bigint {
  return parseTwoDecimals(value, { field, examples: '450 or 10.5' });
}

/** The JSON number of dalasi for an amount in bututs; exact, also for a balance below zero. */
export function amountToJson(minor: bigint): number {
  assert(minor <= minorMaxInJson && minor >= -minorMaxInJson, 'the amount is too large for an exact JSON number');
  return Number(amountText(minor));
}

/** An amount as people read it: `D1,250.00` on pages, `1250.00` in the plain style. */
export function formatAmount(minor: bigint, format: AmountFormat = {}): string {
  if (format.style === 'plain') return amountText(minor);
  const { sign, whole, fraction } = splitAmount(minor);
  return `${sign}D${groupedWhole.format(BigInt(whole))}.${fraction}`;
}

/** An amount with its currency: `GMD 1250.00`. */
export function moneyText({ currency, amountMinor }: { currency: string; amountMinor: bigint }): string {
  return `${currency} ${amountText(amountMinor)}`;
}

/** The hundredths of a percentage in a JSON number: 12.5 is 1250n. Above 0, at most 100. */
export function parsePercent(value: number, field = 'percentage'): bigint {
  const hundredths = parseTwoDecimals(value, { field, examples: '20 or 12.5' });
  if (hundredths === 0n || hundredths > wholePercent) {
    throw new AmountError(`${field} must be above 0 and at most 100, for example 20 or 12.5.`);
  }
  return hundredths;
}

/** The JSON number of a percentage in hundredths; exact, because it has at most two decimals. */
export function percentToJson(hundredths: bigint): number {
  return amountToJson(hundredths);
}

/**
 * A part of an amount, rounded once: to bututs, or with `half-up-to-whole` to whole dalasi. Rounding to bututs first
 * and to dalasi afterwards is not the same: 1 % of 149.99 is 1.4999, which is 1 dalasi, but 2 by way of 1.50.
 */
export function multiplyPercent(minor: bigint, percentHundredths: bigint, rounding: PercentRounding): bigint {
  assertNotNegative(minor);
  assert(percentHundredths >= 0n, 'a percentage is not negative');
  const unit = rounding === 'half-up-to-whole' ? dalasi : 1n;
  const divisor = wholePercent * unit;
  return ((minor * percentHundredths + divisor / 2n) / divisor) * unit;
}

/** The next whole dalasi, for amounts that have to be whole. */
export function roundUpToWhole(minor: bigint): bigint {
  assertNotNegative(minor);
  return ((minor + dalasi - 1n) / dalasi) * dalasi;
}

/** The hundredths of a decimal text with at most two decimals, `10.5` is 1050n; undefined for every other text. */
export function parseHundredths(text: string): bigint | undefined {
  if (!twoDecimals.test(text)) return undefined;
  const point = text.indexOf('.');
  if (point === -1) return BigInt(`${text}00`);
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(2, '0'));
}

// From here on, and below 1e-6, String() writes an exponent; neither is an amount, so the pattern refuses both.
const exponentFrom = 1e21;
const twoDecimals = /^\d+(?:\.\d\d?)?$/;

function parseTwoDecimals(value: number, options: { field: string; examples: string }): bigint {
  const hundredths = parseHundredths(String(value));
  if (hundredths !== undefined) return hundredths;
  const { field, examples } = options;
  if (!Number.isFinite(value)) throw new AmountError(`${field} must be a number, for example ${examples}.`);
  if (value < 0) throw new AmountError(`${field} must not be negative; send for example ${examples}.`);
  if (value >= exponentFrom) throw new AmountError(`${field} is too large; send for example ${examples}.`);
  throw new AmountError(`${field} has at most two decimals, for example ${examples}.`);
}

function amountText(minor: bigint): string {
  const { sign, whole, fraction } = splitAmount(minor);
  return `${sign}${whole}.${fraction}`;
}

function splitAmount(minor: bigint): { sign: string; whole: string; fraction: string } {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0');
  return { sign: minor < 0n ? '-' : '', whole: digits.slice(0, -2), fraction: digits.slice(-2) };
}

function assertNotNegative(minor: bigint): void {
  assert(minor >= 0n, 'an amount to round is not negative');
}

/** The smallest of several amounts. */
export function least(first: bigint, ...others: bigint[]): bigint {
  return others.reduce((smallest, one) => (one < smallest ? one : smallest), first);
}
