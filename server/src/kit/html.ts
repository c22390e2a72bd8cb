/** HTML that is ready to be sent. Only the html tag creates it, so plain text cannot pass for it. */
class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static read(fragment: Html): string {
    return fragment.#text;
  }
}

export type { Html };

/** What a template takes: text and numbers are escaped, Html is inserted as it is, null, undefined and false print nothing. */
export type HtmlValue = Html | string | number | bigint | null | undefined | false | readonly HtmlValue[];

/**
 * Builds HTML from a template; every value is escaped for content and for attributes in double or single quotes.
 * It does not make a value safe as a URL, in a script, in a style, or in an attribute without quotes. Anything but an
 * HtmlValue throws: a promise or an object would print as `[object …]`.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += print(value) + (strings[index + 1] ?? '');
  return new Html(text);
}

export function renderHtml(page: Html): string {
  return Html.read(page);
}

function print(value: HtmlValue): string {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'number' || typeof value === 'bigint') return escapeText(String(value));
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return Html.read(value);
  if (Array.isArray(value)) return value.map(print).join('');
  // Reached only past the compiler, from `any` or a cast; the message names the type, never the value.
  throw new TypeError(`a template cannot print a value of the kind ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
