/**
 * Whether String(value) writes the same decimal as the JSON number `source`, perhaps in another form (1e2 and 100).
 * Takes time linear in the length of the source, whatever its exponent.
 */
export function isExactDecimal(source: string, value: number): boolean {
  const text = String(value);
  if (text === source) return true;
  if (!Number.isFinite(value)) return false;
  const sent = decimalOf(source);
  const parsed = decimalOf(text);
  return sent.digits === parsed.digits && (sent.digits === '' || sent.exponent === parsed.exponent);
}

/** The size of a decimal as digits × 10^exponent, digits without zeros at either end (none for zero). */
function decimalOf(source: string): { digits: string; exponent: number } {
  const unsigned = source.startsWith('-') ? source.slice(1) : source;
  const [mantissa = '', exponent = '0'] = unsigned.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  // Loops, because /0+$/ takes quadratic time on long runs of zeros that end in another digit.
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === zero) end -= 1;
  let start = 0;
  while (start < end && all.charCodeAt(start) === zero) start += 1;
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + (all.length - end) };
}

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}

export interface StrictJsonLimits {
  /** Objects and arrays inside one another; 1 allows a single flat object. */
  depthMax?: number;
}

/** The text is not JSON that this service accepts. The message is one sentence and safe to show to the caller. */
export class StrictJsonError extends Error {
  override name = 'StrictJsonError';
  /** The field, as `data.amount` or `members.0.percentage`; empty for the whole text. */
  readonly path: string;
  /** Index of the offending character, counted from 0 in UTF-16 units. */
  readonly position: number;

  constructor(message: string, location: { path: string; position: number }) {
    super(message);
    this.path = location.path;
    this.position = location.position;
  }
}

/**
 * Parses JSON and refuses what two parsers could read differently or what cannot be stored as it was sent: repeated names,
 * numbers that a double does not represent exactly, lone surrogates, NUL, deep nesting, and the names through which JavaScript
 * reaches an object's prototype. What JSON.parse refuses is refused too.
 *
 * `String(number)` of every number in the result is the decimal that was sent; money.ts relies on it.
 * Throws StrictJsonError. Time is linear in the length of the text, and the stack is bounded by the depth limit.
 */
export function parseStrictJson(text: string, limits: StrictJsonLimits = {}): JsonValue {
  return new Parser(text, limits.depthMax ?? depthMaxDefault).parse();
}

/** The same for bytes, which must be UTF-8 without a byte order mark. */
export function parseStrictJsonBytes(bytes: Uint8Array, limits: StrictJsonLimits = {}): JsonValue {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new StrictJsonError('The text is not UTF-8. Send JSON encoded as UTF-8.', { path: '', position: 0 });
  }
  return parseStrictJson(text, limits);
}

// The deepest body of the interface has four levels; 32 leaves room for metadata and keeps the recursion far from the
// end of the stack.
const depthMaxDefault = 32;

// Every decimal of at most 15 significant digits converts to a double and back exactly; with 16 digits some do not.
const exactDigits = 15;

// Longer names are cut in messages and paths, which go into responses and logs.
const shownNameLength = 40;

const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const loneSurrogate = 'A string holds half of a surrogate pair, which is not a character.';

// ignoreBOM keeps the mark in the text, so that the parser refuses it instead of dropping it in silence.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const lowerE = 0x65;
const lowerF = 0x66;
const lowerN = 0x6e;
const lowerT = 0x74;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const byteOrderMark = 0xfeff;

class Parser {
  readonly #text: string;
  readonly #depthMax: number;
  /** Whether the text itself contains a lone surrogate; checked once, because checking each string costs more. */
  readonly #illFormed: boolean;
  #position = 0;
  #depth = 0;
  /** The names and indexes of the current position, undefined between two names; entries beyond #depth are stale. */
  readonly #path: (string | number | undefined)[] = [];

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#illFormed = !text.isWellFormed();
  }

  parse(): JsonValue {
    const first = this.#skipSpace();
    if (first === byteOrderMark) throw this.#error('The text begins with a byte order mark. Send JSON without it.');
    if (Number.isNaN(first)) throw this.#error('The text is empty. Send a JSON value.');
    const value = this.#value(first);
    if (!Number.isNaN(this.#skipSpace())) throw this.#error('Something follows the end of the JSON value.');
    return value;
  }

  /** Moves to the next character that is not white space and returns its code, NaN at the end of the text. */
  #skipSpace(): number {
    const text = this.#text;
    let position = this.#position;
    let code = text.charCodeAt(position);
    while (code === space || code === lineFeed || code === carriageReturn || code === tab) {
      position += 1;
      code = text.charCodeAt(position);
    }
    this.#position = position;
    return code;
  }

  #value(code: number): JsonValue {
    switch (code) {
      case quote:
        return this.#string();
      case openBrace:
        return this.#object();
      case openBracket:
        return this.#array();
      case lowerT:
        return this.#literal('true', true);
      case lowerF:
        return this.#literal('false', false);
      case lowerN:
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #literal(word: string, value: boolean | null): boolean | null {
    if (!this.#text.startsWith(word, this.#position)) throw this.#unexpected('a value');
    this.#position += word.length;
    return value;
  }

  #object(): JsonObject {
    this.#enter();
    const result: JsonObject = {};
    let code = this.#skipSpace();
    if (code === closeBrace) return this.#leave(result);
    for (;;) {
      if (code !== quote) throw this.#unexpected('a name in double quotes');
      const position = this.#position;
      const name = this.#string();
      // Inherited and repeated names are both defined here, so the common case is one look-up.
      this.#path[this.#depth - 1] = name;
      if (result[name] !== undefined || name === 'prototype') this.#checkName(result, name, position);
      if (this.#skipSpace() !== colon) throw this.#unexpected('a colon');
      this.#position += 1;
      result[name] = this.#value(this.#skipSpace());
      code = this.#skipSpace();
      if (code === closeBrace) return this.#leave(result);
      if (code !== comma) throw this.#unexpected('a comma or a closing brace');
      this.#position += 1;
      this.#path[this.#depth - 1] = undefined;
      code = this.#skipSpace();
    }
  }

  #checkName(result: JsonObject, name: string, position: number): void {
    if (forbiddenNames.has(name)) throw this.#error(`"${name}" is not allowed as a field name.`, position);
    if (Object.hasOwn(result, name)) {
      throw this.#error(`The field "${shorten(name)}" is there twice. Send it once.`, position);
    }
  }

  #array(): JsonValue[] {
    this.#enter();
    const result: JsonValue[] = [];
    let code = this.#skipSpace();
    if (code === closeBracket) return this.#leave(result);
    for (;;) {
      this.#path[this.#depth - 1] = result.length;
      result.push(this.#value(code));
      code = this.#skipSpace();
      if (code === closeBracket) return this.#leave(result);
      if (code !== comma) throw this.#unexpected('a comma or a closing bracket');
      this.#position += 1;
      code = this.#skipSpace();
    }
  }

  #enter(): void {
    if (this.#depth === this.#depthMax) {
      throw this.#error(`The JSON is nested more than ${this.#depthMax} levels deep. Send it flatter.`);
    }
    this.#path[this.#depth] = undefined;
    this.#depth += 1;
    this.#position += 1;
  }

  #leave<Container>(container: Container): Container {
    this.#depth -= 1;
    this.#position += 1;
    return container;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#position + 1;
    let position = start;
    let code = text.charCodeAt(position);
    while (code !== quote && code !== backslash && code >= space) {
      position += 1;
      code = text.charCodeAt(position);
    }
    if (code !== quote) return this.#stringWithEscapes(start, position);
    const value = text.slice(start, position);
    if (this.#illFormed && !value.isWellFormed()) throw this.#error(loneSurrogate);
    this.#position = position + 1;
    return value;
  }

  /** Goes on from the first backslash to the closing quote and leaves the decoding of escapes to JSON.parse. */
  #stringWithEscapes(start: number, firstBackslash: number): string {
    const text = this.#text;
    let position = firstBackslash;
    let code = text.charCodeAt(position);
    while (code !== quote) {
      if (!(code >= space)) {
        this.#position = position;
        throw this.#error(
          Number.isNaN(code)
            ? 'The JSON ends inside a string.'
            : 'A string holds a control character. Write it as an escape, for example \\n.',
        );
      }
      position += code === backslash && text.charCodeAt(position + 1) >= space ? 2 : 1;
      code = text.charCodeAt(position);
    }
    const value = decodeEscapes(text.slice(start - 1, position + 1));
    if (value === undefined) throw this.#error('A string holds an escape that JSON does not have.');
    if (value.includes('\0')) throw this.#error('A string holds a NUL character, which is not allowed.');
    if (!value.isWellFormed()) throw this.#error(loneSurrogate);
    this.#position = position + 1;
    return value;
  }

  #number(): number {
    const text = this.#text;
    const start = this.#position;
    let position = start;
    if (text.charCodeAt(position) === minus) position += 1;
    const firstDigit = position;
    position = this.#digits(position);
    if (text.charCodeAt(firstDigit) === zero && position > firstDigit + 1) {
      throw this.#error('A number begins with a zero that does not belong there.');
    }
    let code = text.charCodeAt(position);
    if (code === dot) {
      position = this.#digits(position + 1);
      code = text.charCodeAt(position);
    }
    const hasExponent = (code | 0x20) === lowerE;
    if (hasExponent) {
      const sign = text.charCodeAt(position + 1);
      position = this.#digits(position + (sign === plus || sign === minus ? 2 : 1));
    }
    const source = text.slice(start, position);
    const value = Number(source);
    if (value === 0 && firstDigit > start) throw this.#error('Minus zero is not a number here. Send 0.');
    const surelyExact = position - start <= exactDigits && !hasExponent;
    if (!surelyExact && !isExactDecimal(source, value)) {
      throw this.#error('A number has more digits, or is larger or smaller, than can be kept exactly.');
    }
    this.#position = position;
    return value;
  }

  /** Returns the position after the digits that begin here, of which there must be one. */
  #digits(start: number): number {
    const text = this.#text;
    let position = start;
    let code = text.charCodeAt(position);
    while (code >= zero && code <= nine) {
      position += 1;
      code = text.charCodeAt(position);
    }
    if (position === start) {
      const nothingYet = start === this.#position;
      this.#position = start;
      throw this.#unexpected(nothingYet ? 'a value' : 'a digit');
    }
    return position;
  }

  #unexpected(expected: string): StrictJsonError {
    if (this.#position >= this.#text.length) return this.#error(`The JSON ends where ${expected} should come.`);
    return this.#error(`This is not JSON: character ${this.#position + 1} should be ${expected}.`);
  }

  #error(message: string, position = this.#position): StrictJsonError {
    const path = this.#path.slice(0, this.#depth).filter((part) => part !== undefined);
    return new StrictJsonError(message, { path: path.map((part) => shorten(String(part))).join('.'), position });
  }
}

/** Decodes a JSON string that ends where it should; undefined when an escape is malformed. */
function decodeEscapes(source: string): string | undefined {
  try {
    return JSON.parse(source) as string;
  } catch {
    return undefined;
  }
}

function shorten(name: string): string {
  return name.length <= shownNameLength ? name : `${name.slice(0, shownNameLength).toWellFormed()}…`;
}
