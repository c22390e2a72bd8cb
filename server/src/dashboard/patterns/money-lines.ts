import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { LineSource, SourcedLine } from '../../settlement/line-sources.ts';
import type { Visit } from '../visit.ts';
import { shownTime } from '../../portal/patterns/texts.ts';

/** Movements of a balance as a table: when, why, how much, and what it then was. */
export function moneyLines(visit: Visit, caption: string, lines: readonly (SourcedLine & { text: string })[]): Html {
  const { now, base } = visit;
  return html`<table class="list money"><caption class="unseen">${caption}</caption>
<thead><tr><th scope="col">What</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">Reference</th>
<th scope="col" class="number">Amount</th><th scope="col" class="number wide">Balance after</th></tr></thead>
<tbody>${lines.map(({ at, text, source, changeMinor, balanceMinor }) => {
    const href = hrefOf(source);
    const about = source.description === null ? '' : html`: ${foreignText(source.description)}`;
    return html`<tr><td><span class="first">${href === null ? text : html`<a href="${base}${href}">${text}</a>`}${about}</span>
<span class="second phone">${shownTime(at, now)}</span></td>
<td class="wide">${shownTime(at, now)}</td><td class="wide"><span class="unbroken">${source.reference}</span></td>
<td class="number"><span class="first">${signed(changeMinor)}</span>
<span class="second phone">then ${formatAmount(balanceMinor)}</span></td>
<td class="number wide">${formatAmount(balanceMinor)}</td></tr>`;
  })}</tbody></table>`;
}

/** Above zero with its plus, so that money in and money out differ in print too. */
export function signed(minor: bigint): string {
  return minor > 0n ? `+${formatAmount(minor)}` : formatAmount(minor);
}

function hrefOf({ type, id, paymentId }: LineSource): string | null {
  if (paymentId !== null) return `/payments/${paymentId}`;
  if (type === 'transfer') return `/transfers/${id}`;
  if (type === 'refund') return `/refunds/${id}`;
  return type === 'sub_account' ? `/sub-accounts/${id}` : null;
}

/** Links to the first page and the next of lines that are read by cursor. */
export function linePages(
  path: string,
  query: Readonly<Record<string, string>>,
  { cursor, nextCursor, names }: { cursor: string | undefined; nextCursor: string | null; names: [string, string] },
): Html {
  const href = (more: Record<string, string>): string =>
    `${path}?${new URLSearchParams({ ...query, ...more }).toString()}`;
  return html`<nav class="pages" aria-label="Pages">${cursor && html`<a class="button small plain" href="${href({})}">${names[0]}</a>`}
${nextCursor !== null && html`<a class="button small plain" rel="next" href="${href({ cursor: nextCursor })}">${names[1]}</a>`}</nav>`;
}
