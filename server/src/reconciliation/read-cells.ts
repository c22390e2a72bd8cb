import { dayMs } from '../kit/clock.ts';
import { parseHundredths } from '../kit/money.ts';

/** How days are written where they are not ISO 8601. */
export const timeForms = ['day_first', 'month_first'] as const;
export type TimeForm = (typeof timeForms)[number];

export function isTimeForm(text: string): text is TimeForm {
  return timeForms.some((form) => form === text);
}

// 10,000,000,000,000 dalasi exceed any amount; a longer text is no amount.
const amountLengthMax = 24;
const currencyMark = /^(?:GMD|D)\s*|\s*GMD$/i;
const grouped = /^\d{1,3}(?:[, '\u00a0\u202f]\d{3})+(?:\.\d+)?$/;
const wholeDigitsMax = 13;

/** Bututs of an amount as statements write it: `1,250.00`, `D -20`, `(20.00)`; undefined for every other text. */
export function readSignedAmount(text: string, decimal: '.' | ','): bigint | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > amountLengthMax) return undefined;
  const inBrackets = /^\((.*)\)$/.exec(trimmed)?.[1];
  const [, sign = '', unsigned = ''] =
    /^([-+\u2212]?)(.*)$/.exec((inBrackets ?? trimmed).replace(currencyMark, '').trim()) ?? [];
  const digits = withoutGroups(decimal === ',' ? swapped(unsigned) : unsigned.replace(currencyMark, ''));
  if (digits === undefined || (inBrackets !== undefined && sign !== '')) return undefined;
  const minor = parseHundredths(digits);
  if (minor === undefined) return undefined;
  return sign === '-' || sign === '\u2212' || inBrackets !== undefined ? -minor : minor;
}

function swapped(text: string): string {
  return text.replaceAll(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'));
}

function withoutGroups(text: string): string | undefined {
  const plain = grouped.test(text) ? text.replaceAll(/[, '\u00a0\u202f]/g, '') : text;
  // Zeros after the second decimal are no amount of money; some statements have them.
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,2})0*)?$/.exec(plain) ?? [];
  if (whole === '' || whole.length > wholeDigitsMax) return undefined;
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?$/i;
const local = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[ ,T]+(\d{1,2}):(\d\d)(?::(\d\d))?\s*([AP]M)?)?$/i;
const serial = /^\d{5}(?:\.\d+)?$/;
// The day 0 of spreadsheets, 30 December 1899.
const serialEpochMs = Date.UTC(1899, 11, 30);

/** A time as statements write it; without a zone it is UTC, the time of The Gambia. Undefined for every other text. */
export function readTime(text: string, form: TimeForm): Date | undefined {
  const trimmed = text.trim();
  if (serial.test(trimmed)) return new Date(Math.round((serialEpochMs + Number(trimmed) * dayMs) / 1_000) * 1_000);
  const isoParts = iso.exec(trimmed);
  if (isoParts) {
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = isoParts;
    const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
    const at = timeOf([year, month, day, hour, minute, second].map(Number), ms);
    return at && new Date(at.getTime() - zoneMs(zone));
  }
  const [, first, second_, year, hour = '0', minute = '0', second = '0', half] = local.exec(trimmed) ?? [];
  if (year === undefined) return undefined;
  const [day, month] = form === 'day_first' ? [first, second_] : [second_, first];
  const hours = half === undefined ? Number(hour) : hourOf(Number(hour), half);
  return timeOf([Number(year), Number(month), Number(day), hours, Number(minute), Number(second)], 0);
}

function hourOf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
}

function zoneMs(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Undefined for a day or time that does not exist: 30 February would otherwise become 2 March. */
function timeOf(parts: readonly number[], ms: number): Date | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms));
  const read = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes()];
  const exists = [year, month, day, hour, minute].every((part, index) => part === read[index]);
  return exists && at.getUTCSeconds() === second ? at : undefined;
}
