export type Operator = 'africell' | 'qcell' | 'comium' | 'gamcel' | 'gamtel';

/** A Gambian number. The country moves from 7 to 9 national digits, so one line has two numbers for a while. */
export interface PhoneNumber {
  /** E.164 in the new form; two spellings of one line share it, so limits and block lists use it. */
  canonical: string;
  /** The other numbers of the same line, E.164: the old 7-digit form of a migrated one. */
  aliases: string[];
  /** The 7 or 9 digits as written, without country code and separators. */
  nationalDigits: string;
  /** The operator whose range the number is in. Only a hint: numbers move between operators. */
  operatorHint: Operator | null;
}

export interface PhoneNumberOptions {
  /** True in live: a 9-digit number whose operator prefix and remaining digits disagree is refused. */
  strict: boolean;
}

/** A number that cannot be used. The message says what to do and never repeats the number: messages are logged. */
export class PhoneNumberError extends Error {
  override name = 'PhoneNumberError';
}

/**
 * Parses a Gambian number in any usual form: 7 or 9 national digits, with or without 220, +220 or 00220, and with spaces,
 * dashes, dots or brackets anywhere. The length decides what a leading 220 is: 2201234 is a local number. Numbers outside the
 * operators' known ranges pass too, because ranges are assigned faster than software is updated, and test numbers rely on it.
 * Throws PhoneNumberError.
 *
 * Phone libraries older than September 2026 refuse the new numbers.
 */
export function parsePhoneNumber(text: string, options: PhoneNumberOptions): PhoneNumber {
  const [, nationalDigits] = gambian.exec(withoutSeparators(text)) ?? [];
  if (nationalDigits === undefined) {
    throw new PhoneNumberError('Write a Gambian number with 7 or 9 digits, for example +220 701 2345.');
  }
  return nationalDigits.length === 7 ? fromOldForm(nationalDigits) : fromNewForm(nationalDigits, options);
}

/**
 * The E.164 form of a Gambian number in any usual form, or of a foreign one written with + and its country code. Of a foreign
 * number only the length is checked. Throws PhoneNumberError.
 */
export function parseInternationalNumber(text: string, options: PhoneNumberOptions): string {
  const number = withoutSeparators(text);
  if (gambian.test(number)) return parsePhoneNumber(number, options).canonical;
  if (foreign.test(number)) return number;
  throw new PhoneNumberError(
    'Write a Gambian number with 7 or 9 digits, or a foreign one with + and its country code.',
  );
}

/** What `parse` reads of a text that need not be a number; null where it is none. */
export function numberOrNull<Read>(parse: () => Read): Read | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof PhoneNumberError) return null;
    throw error;
  }
}

/** The last four digits as `.... 4725`, for those who may recognise the number but not learn it. */
export function maskPhoneNumber(text: string): string {
  if (text === '') return '';
  return `.... ${text.replaceAll(/\D/g, '').slice(-4)}`.trimEnd();
}

interface Range {
  operator: Operator;
  /** How the operator's 7-digit numbers begin. */
  oldNumbers: readonly string[];
  /** What the new form puts before the 7 digits; absent where numbers keep 7 digits for now. */
  newPrefix?: string;
  /** How the 7 digits may begin after the prefix, where that allows more than `oldNumbers`. */
  afterPrefix?: readonly string[];
}

/**
 * The numbering plan of the regulator's notice of 2026, as far as sources agree. Left out because they do not: 46 to
 * 49, 55 to 57 (QCell or fixed) and 84 to 87 with 7 digits (Comium or fixed).
 */
const ranges: readonly Range[] = [
  { operator: 'africell', oldNumbers: ['2', '7', '40', '41', '45'], newPrefix: '87' },
  {
    operator: 'qcell',
    oldNumbers: ['3', '50', '51', '52', '53', '54', '58', '59'],
    newPrefix: '83',
    afterPrefix: ['3', '5'],
  },
  { operator: 'comium', oldNumbers: ['6'], newPrefix: '86', afterPrefix: ['6', '84', '85', '86', '87'] },
  { operator: 'gamcel', oldNumbers: ['9'] },
  { operator: 'gamtel', oldNumbers: ['80', '81', '82', '83', '88', '89', '42', '43', '44'] },
];

const gambian = /^(?:\+220|00220|220)?(\d{7}|\d{9})$/;
// E.164 allows 15 digits; the shortest numbers in use, country code included, have 7.
const foreign = /^\+(?!220)[1-9]\d{6,14}$/;
const separators = /[ \u00a0\u2010\u2011\u2013.()-]/g;

// The longest usual form has some 25 characters.
const textLengthMax = 40;

/** How an operator's national numbers begin, in the old form and in the new one. */
export function prefixesOf(operator: Operator): string[] {
  return ranges
    .filter((range) => range.operator === operator)
    .flatMap(({ oldNumbers, newPrefix }) => [...oldNumbers, ...(newPrefix === undefined ? [] : [newPrefix])]);
}

function startsWithOne(digits: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => digits.startsWith(prefix));
}

function fromOldForm(digits: string): PhoneNumber {
  const range = ranges.find(({ oldNumbers }) => startsWithOne(digits, oldNumbers));
  const migrated = range?.newPrefix !== undefined;
  return {
    canonical: migrated ? `+220${range.newPrefix}${digits}` : `+220${digits}`,
    aliases: migrated ? [`+220${digits}`] : [],
    nationalDigits: digits,
    operatorHint: range?.operator ?? null,
  };
}

function fromNewForm(digits: string, options: PhoneNumberOptions): PhoneNumber {
  const core = digits.slice(2);
  const range = ranges.find(({ newPrefix }) => newPrefix !== undefined && digits.startsWith(newPrefix));
  const isConsistent = range !== undefined && startsWithOne(core, range.afterPrefix ?? range.oldNumbers);
  if (options.strict && range !== undefined && !isConsistent) {
    throw new PhoneNumberError('This number does not exist: its first two digits do not go with the rest. Check it.');
  }
  return {
    canonical: `+220${digits}`,
    aliases: isConsistent ? [`+220${core}`] : [],
    nationalDigits: digits,
    operatorHint: isConsistent ? range.operator : null,
  };
}

function withoutSeparators(text: string): string {
  if (text.length > textLengthMax) throw new PhoneNumberError('This is too long for a phone number.');
  // Digits of other scripts look right to a person and are not digits to most programs.
  if (/[^0-9\P{Nd}]/u.test(text)) throw new PhoneNumberError('Write the number with the digits 0 to 9.');
  return text.replaceAll(separators, '');
}
