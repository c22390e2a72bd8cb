import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { isLinkableUrl } from '../kit/linkable-url.ts';

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

/** The URL if it is safe to link, else null. App links such as `shop://done` are safe (docs/api.md, "URLs"). */
export function linkable(address: string | null): string | null {
  return address !== null && isLinkableUrl(address) ? address : null;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `20 Nov 2026, 10:18` in UTC, which is Gambian local time all year (Africa/Banjul). */
export function formatTime(time: Date): string {
  const day = `${time.getUTCDate()} ${monthNames[time.getUTCMonth()] ?? ''} ${time.getUTCFullYear()}`;
  return `${day}, ${twoDigits(time.getUTCHours())}:${twoDigits(time.getUTCMinutes())}`;
}

/** The time left, such as `29 minutes`, rounded up so that it is never zero; hours after two hours, then days. */
export function formatDuration(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes <= 120 ? plural(minutes, 'minute') : hoursOrDays(minutes);
}

/** The time since an event, such as `12 seconds`, `3 minutes` or `2 hours`, rounded down. */
export function formatSince(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return plural(seconds, 'second');
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? plural(minutes, 'minute') : hoursOrDays(minutes);
}

function hoursOrDays(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, 'hour') : plural(Math.floor(hours / 24), 'day');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats a Gambian number as `700 0001` or `87 700 0001`. Other numbers stay unchanged. */
export function formatNumber(number: string): string {
  const digits = number.replace(/[\s().-]/g, '').replace(/^(?:\+|00)?220(?=\d{7}(?:\d\d)?$)/, '');
  if (/^\d{7}$/.test(digits)) return `${digits.slice(0, 3)} ${digits.slice(3)}`;
  if (/^\d{9}$/.test(digits)) return `${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)}`;
  return number.trim();
}
