import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { isLinkableUrl } from '../kit/linkable-url.ts';

// What orders text from right to left and back (Unicode, UAX 9), and control characters: with them a name can look
// like another one. Letters that are written from right to left need none of these.
const controlCharacters = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text of somebody else as one line without characters that only steer how it is drawn. */
export function cleanText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(controlCharacters, '').trim();
}

/** A merchant's text inside a sentence of ours, isolated so that its writing direction cannot turn our words around. */
export function foreignText(text: string): Html {
  return html`<bdi>${cleanText(text)}</bdi>`;
}

/** The address if it may stand in a link, else null. App links such as `shop://done` pass (docs/api.md, "URLs"). */
export function linkable(address: string | null): string | null {
  return address !== null && isLinkableUrl(address) ? address : null;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `20 Nov 2026, 10:18`. The Gambia keeps UTC all year (Africa/Banjul), so this is the payer's local time. */
export function formatTime(time: Date): string {
  const day = `${time.getUTCDate()} ${monthNames[time.getUTCMonth()] ?? ''} ${time.getUTCFullYear()}`;
  return `${day}, ${twoDigits(time.getUTCHours())}:${twoDigits(time.getUTCMinutes())}`;
}

/** `29 minutes`, rounded up so that it never says zero before the end; from two hours on in hours, then in days. */
export function formatDuration(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  if (minutes <= 120) return plural(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, 'hour') : plural(Math.floor(hours / 24), 'day');
}

/** `12 seconds`, `3 minutes`, `2 hours`: how long ago something was, rounded down. */
export function formatSince(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return plural(seconds, 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return plural(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, 'hour') : plural(Math.floor(hours / 24), 'day');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
