import { hiddenValue, isSearch, maskedText } from '../api/masked-value.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';

/** Longer bodies are cut here, once they are masked. */
export const bodyLengthMax = 8_192;

// A key or a webhook secret anywhere in a text, whatever its field is called.
const secretText = /\b(?:sk_(?:test|live)_|wh_)[\w+/=]+/g;
// A text that is a phone number, whatever its field is called.
const numberText = /^\+?\d[\d ]{5,16}\d$/;

/** JSON without secrets and whole numbers of people, at most `bodyLengthMax` characters; `isError` keeps the `code` of a refusal. */
export function maskedBody(body: unknown, { isError }: { isError: boolean }): string {
  const masked = maskedJson('', body);
  const code = isError ? codeOf(body) : null;
  const shown = code === null ? masked : { ...(masked as object), code };
  // First masked, then cut: half a secret would have no name to be recognized by.
  return (JSON.stringify(shown) ?? '').slice(0, bodyLengthMax);
}

/** The `code` of a refusal as the API words it. */
export function codeOf(body: unknown): string | null {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : null;
  return typeof code === 'string' ? code : null;
}

/**
 * What follows the question mark, by the names of its parameters. What was searched for may name a person, and no record leads from
 * that person to the request when their customer is deleted.
 */
export function maskedQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [
    name,
    isSearch(name) ? hiddenValue : maskedValue(name, value),
  ]);
  return pairs
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
    .slice(0, bodyLengthMax);
}

function maskedJson(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  // A list's entries have its name.
  if (Array.isArray(value)) return value.map((item) => maskedJson(name, item));
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskedJson(key, item)]));
  }
  if (typeof value === 'string') return maskedValue(name, value);
  const text = JSON.stringify(value);
  const masked = maskedText(name, text);
  return masked === text ? value : masked;
}

function maskedValue(name: string, text: string): string {
  const masked = maskedText(name, text).replaceAll(secretText, hiddenValue);
  return numberText.test(masked) ? maskPhoneNumber(masked) : masked;
}
