import { html, type Html } from '../../../kit/html.ts';
import { formatAmount } from '../../../kit/money.ts';

/** A part of a whole, such as a network's of what was collected. */
export interface Part {
  name: Html | string;
  /** A whole path. */
  href: string;
  amountMinor: bigint;
  note: string;
  /** Of the class with its colour; null for the colour of all others. */
  series: string | null;
}

const coloured = new Set(['wave', 'afrimoney', 'qmoney', 'aps']);

/** The colour of a network, where it has one. */
export function seriesOf(network: string): string | null {
  return coloured.has(network) ? network : null;
}

/** Parts as bars, the largest first, each with its amount. */
export function partBars({ title, parts }: { title: string; parts: readonly Part[] }): Html {
  const largest = parts.reduce((most, { amountMinor }) => (amountMinor > most ? amountMinor : most), 1n);
  // In hundredths of a percent, which is finer than any screen.
  const width = (amountMinor: bigint): number => Number((amountMinor * 10_000n) / largest) / 100;
  return html`<ul class="parts" aria-label="${title}">${parts.map(
    ({ name, href, amountMinor, note, series }) => html`<li><a href="${href}">${name}</a>
<span class="number">${formatAmount(amountMinor)} <span class="note">${note}</span></span>
<svg width="100%" height="8" aria-hidden="true"><rect class="bar ${series && `series-${series}`}" width="${width(amountMinor)}%" height="8"/></svg></li>`,
  )}</ul>`;
}
