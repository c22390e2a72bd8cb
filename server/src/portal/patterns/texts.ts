import type { MerchantRole, OperatorRole } from '../../accounts/permissions.ts';
import { html, type Html } from '../../kit/html.ts';
import { icon, type IconName } from '../../pages/icons.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { formatTime } from '../../pages/page-text.ts';

/** How a state is drawn: a shape, a word and a colour. `bad` is for what somebody here must act on. */
export interface StateMark {
  tone: 'good' | 'wait' | 'calm' | 'bad';
  icon: IconName;
  text: string;
}

// `Part refunded`, which no column is too narrow for.
const shortLength = 13;

export function stateMark({ tone, icon: name, text }: StateMark): Html {
  return html`<span class="state ${tone} ${text.length <= shortLength && 'short'}">${icon(name)}<span>${text}</span></span>`;
}

/** A role as people read it: `Finance`. */
export function roleName(role: MerchantRole | OperatorRole): string {
  return `${role.charAt(0).toUpperCase()}${role.slice(1)}`;
}

/** `Today 07:36`, else `22 Nov 2026, 07:36`; UTC, which is Gambian time. */
export function shownTime(time: Date, now: Date): Html {
  return timeElement(time, { now, today: 'Today' });
}

/** The same within a sentence. */
export function timeInSentence(time: Date, now: Date): Html {
  return timeElement(time, { now, today: 'today' });
}

/** On paper: when the page was opened, and so which day its “Today” is. */
export function paperTime(now: Date): Html {
  return html`<p class="paper">Opened ${formatTime(now)}</p>`;
}

function timeElement(time: Date, { now, today }: { now: Date; today: string }): Html {
  const isToday = time.toISOString().slice(0, 10) === now.toISOString().slice(0, 10);
  const text = isToday ? `${today} ${time.toISOString().slice(11, 16)}` : formatTime(time);
  return html`<time datetime="${time.toISOString()}">${text}</time>`;
}

/** A sentence that commands print too, `GMD 1250.00 came`, with its amounts as pages have them: `D1,250.00`. */
export function inDalasi(sentence: string): string {
  return sentence.replaceAll(/GMD (-?\d+)\.(\d\d)/g, (_amount, whole: string, fraction: string) =>
    formatAmount(BigInt(whole + fraction)),
  );
}

/** An address that breaks, where it must, behind its `@`. */
export function emailText(address: string): Html {
  const [name, host] = address.split('@');
  return host === undefined ? html`${address}` : html`${name}@<wbr>${host}`;
}

/** The bututs of an amount as the API writes it, also below zero. */
export function minorOf(dalasi: number): bigint {
  return dalasi < 0 ? -parseAmount(-dalasi) : parseAmount(dalasi);
}

/** `22 Nov 2026`, of a day as `2026-11-22`. */
export function dayText(day: string): string {
  return formatTime(new Date(`${day}T00:00:00Z`)).replace(/, .*/, '');
}

// With fewer, one more or less changes the percentage so much that only the counts say something.
const countForPercent = 20n;

/** `93% (412 of 443)`, and `18 of 19` below 20. */
export function rateText({ part, of }: { part: bigint; of: bigint }): string {
  if (of === 0n) return 'None tried';
  const counts = `${part.toLocaleString('en-GB')} of ${of.toLocaleString('en-GB')}`;
  return of < countForPercent ? counts : `${percent({ part, of })}% (${counts})`;
}

/** Rounded down, so that 100% means all of them. */
function percent({ part, of }: { part: bigint; of: bigint }): bigint {
  return (part * 100n) / of;
}

/** A cell of a list: what it shows first, and below it on a phone what other columns say. */
export function twoLines(first: Html | string, second: Html | string | false | undefined): Html {
  return html`<span class="first">${first}</span>
<span class="second phone">${second}</span>`;
}
