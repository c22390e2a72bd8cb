import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FluentBundle, FluentResource } from '@fluent/bundle';
import { negotiateLanguages } from '@fluent/langneg';
import { assert } from '../kit/assert.ts';
import { html, type Html } from '../kit/html.ts';

/** What a text is filled with: text is escaped, a number selects the plural form, Html is inserted as it is. */
export type TextValues = Readonly<Record<string, string | number | Html>>;

/** The text of this name as HTML, with `<b>` where the file has it. */
export type Translate = (key: string, values?: TextValues) => Html;

/** A language that payers read. Native speakers correct its texts in `texts/<code>.ftl` (docs/languages.md). */
export interface Language {
  /** BCP 47, such as `en` or `mnk`. */
  readonly code: string;
  /** What its speakers call it. */
  readonly name: string;
  readonly t: Translate;
  /** A text without markup, for posters and messages. */
  readonly plain: (key: string, values?: Readonly<Record<string, string | number>>) => string;
}

const defaultCode = 'en';
const folder = join(import.meta.dirname, 'texts');

/** All languages, English first. A new file adds a language at the next start. */
export const languages: readonly Language[] = readLanguages();

/** The language with this code, if there is one. */
export function findLanguage(code: string): Language | undefined {
  return languages.find((language) => language.code === code);
}

export const english: Language = assertFound(findLanguage(defaultCode));

// Browsers send a handful.
const acceptedMax = 20;

/** The language that an Accept-Language header prefers of those that there are; else English. */
export function acceptedLanguage(header: string | undefined): Language {
  const available = languages.map(({ code }) => code);
  const options = { strategy: 'lookup', defaultLocale: defaultCode } as const;
  const [code = defaultCode] = negotiateLanguages(preferredFirst(header ?? ''), available, options);
  return findLanguage(code) ?? english;
}

/** The codes of an Accept-Language header by their quality (RFC 9110, section 12.5.4), without those that are refused. */
function preferredFirst(header: string): string[] {
  return header
    .split(',', acceptedMax)
    .map((entry) => {
      const [code = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { code, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ code, quality }) => /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(code) && quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ code }) => code);
}

function readLanguages(): Language[] {
  const codes = readdirSync(folder)
    .filter((file) => file.endsWith('.ftl'))
    .map((file) => basename(file, '.ftl'))
    .toSorted((left, right) => Number(right === defaultCode) - Number(left === defaultCode));
  const bundles = codes.map((code) => readBundle(code));
  const fallback = assertFound(bundles[0]);
  return codes.map((code, index) => {
    const format = createFormatter([assertFound(bundles[index]), fallback]);
    const plain: Language['plain'] = (key, values = {}) => format(key, values);
    const t: Translate = (key, values = {}) => fill(format(key, placeholdersOf(values)), values);
    return { code, name: plain('language-name'), t, plain };
  });
}

function readBundle(code: string): FluentBundle {
  // Intl does not know Mandinka and would take the machine's own language for it: English plurals come second.
  const bundle = new FluentBundle([code, defaultCode], { useIsolating: false });
  bundle.addResource(new FluentResource(readFileSync(join(folder, `${code}.ftl`), 'utf8')));
  return bundle;
}

type Format = (key: string, values: Readonly<Record<string, string | number>>) => string;

/**
 * Formats with the first bundle that has the text and can fill it. A mistake in a corrected text is thus an English sentence on a
 * page, never a page that fails.
 */
function createFormatter(bundles: readonly FluentBundle[]): Format {
  return (key, values) => {
    for (const bundle of bundles) {
      const pattern = bundle.getMessage(key)?.value;
      const errors: Error[] = [];
      const text = pattern ? bundle.formatPattern(pattern, values, errors) : null;
      if (text !== null && errors.length === 0) return text;
    }
    throw new Error(`there is no text ${key} with the values ${Object.keys(values).join(', ')}`);
  };
}

// Private-use characters, which no text has, around the name of a value. So no value passes through the text itself.
const opening = '\u{e000}';
const closing = '\u{e001}';
const parts = new RegExp(`${opening}(\\w+)${closing}|<b>(.*?)</b>`, 's');

function placeholdersOf(values: TextValues): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : `${opening}${name}${closing}`,
    ]),
  );
}

function fill(text: string, values: TextValues): Html {
  // Text, a value's name or undefined, what is bold or undefined, text, …
  const filled = text.split(parts).map((part: string | undefined, index) => {
    if (part === undefined || index % 3 === 0) return part;
    return index % 3 === 1 ? values[part] : html`<b>${fill(part, values)}</b>`;
  });
  return html`${filled}`;
}

function assertFound<Value>(value: Value | undefined): Value {
  assert(value !== undefined, `there are English texts in ${folder}`);
  return value;
}
