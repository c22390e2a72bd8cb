import { html, type Html } from '../kit/html.ts';
import { isLinkableUrl } from '../kit/linkable-url.ts';
import { formatAmount } from '../kit/money.ts';
import { numberOrNull, parsePhoneNumber, type Operator } from '../kit/phone-number.ts';
import { english, type Language } from '../languages/languages.ts';

// Bidirectional formatting (Unicode, UAX 9) and control characters, with which a name can look like another one. Right-to-left
// scripts need none of them.
const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Untrusted text as one line, without control and bidirectional formatting characters. */
export function cleanText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(controlCharacters, '').trim();
}

/** Untrusted text inside our own sentence, isolated so that its direction does not affect our words. */
export function foreignText(text: string): Html {
  return html`<bdi>${cleanText(text)}</bdi>`;
}

/** Untrusted text with its line breaks, for an element with `white-space: pre-line`. */
export function foreignLines(text: string): Html {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map(cleanText);
  return html`<bdi>${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}</bdi>`;
}

/** An amount within a sentence; it never breaks inside the number. */
export function amountText(minor: bigint): Html {
  return html`<span class="unbroken">${formatAmount(minor)}</span>`;
}

/** The URL if it is safe to link, else null. App links such as `shop://done` are safe (docs/api.md, "URLs"). */
export function linkable(address: string | null): string | null {
  return address !== null && isLinkableUrl(address) ? address : null;
}

/** `20 Nov 2026, 10:18` in UTC, which is Gambian local time all year (Africa/Banjul). */
export function formatTime(time: Date, { plain }: Language = english): string {
  const month = plain('months').split(' ')[time.getUTCMonth()] ?? '';
  return `${time.getUTCDate()} ${month} ${time.getUTCFullYear()}, ${formatClock(time)}`;
}

/** `10:18` on the same day, else with the date. */
export function formatTimeFrom(time: Date, now: Date, language: Language): string {
  const isToday = time.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
  return isToday ? formatClock(time) : formatTime(time, language);
}

function formatClock(time: Date): string {
  return `${twoDigits(time.getUTCHours())}:${twoDigits(time.getUTCMinutes())}`;
}

/** The time left, such as `29 min` or `5 h 12 min`, rounded up so that it is never zero; days after two days. */
export function formatDuration(ms: number, language: Language): Html {
  return minutesOrMore(Math.max(1, Math.ceil(ms / 60_000)), language);
}

/** The time since an event, such as `12 s`, `3 min` or `2 h 5 min`, rounded down. */
export function formatSince(ms: number, language: Language): Html {
  const seconds = Math.floor(ms / 1_000);
  return seconds < 60 ? html`${seconds} s` : minutesOrMore(Math.floor(seconds / 60), language);
}

/** The units' symbols are the same in every language; the page's script writes them too. */
function minutesOrMore(minutes: number, { t }: Language): Html {
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return html`${minutes} min`;
  return hours < 48 ? html`${hours} h ${minutes % 60} min` : t('days', { days: Math.floor(hours / 24) });
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** The operator in whose range the number is; null for none, or for what is no number. */
export function operatorOf(number: string): Operator | null {
  return numberOrNull(() => parsePhoneNumber(number, { strict: false }))?.operatorHint ?? null;
}

/** Formats a Gambian number as `700 0001` or `87 700 0001`. Other numbers stay unchanged. */
export function formatNumber(number: string): string {
  const digits = number.replace(/[\s().-]/g, '').replace(/^(?:\+|00)?220(?=\d{7}(?:\d\d)?$)/, '');
  if (/^\d{7}$/.test(digits)) return `${digits.slice(0, 3)} ${digits.slice(3)}`;
  if (/^\d{9}$/.test(digits)) return `${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)}`;
  return number.trim();
}
