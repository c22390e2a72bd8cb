import { scaleBand } from 'd3-scale';
import { html, type Html } from '../../../kit/html.ts';

/** One day, hour or week of a chart. */
export interface ChartPoint {
  /** Below the axis; empty for most points of a long range. */
  label: string;
  /** What is shown and spoken: `24 Nov 2026`. */
  name: string;
  /** Of the table's row, as a whole path. */
  href?: string;
  /** It has not ended, so its value still grows. */
  isOpen: boolean;
}

/** A point with its value as people read it. */
export interface DrawnPoint extends ChartPoint {
  /** `D4,250.00, 38 paid`. */
  spoken: string;
  /** The cells of the table after the name. */
  cells: readonly string[];
}

/** Pixels. Widths are percentages of the drawing, so that texts keep their size on every screen. */
export const plot = { top: 16, bottom: 176, labels: 194, height: 202, leftPercent: 13 } as const;

/** The slots of the points, in percent of the width. */
export function columns(count: number) {
  const indexes = Array.from({ length: count }, (_, index) => index);
  return scaleBand<number>().domain(indexes).range([plot.leftPercent, 100]).paddingInner(0.2).paddingOuter(0.1);
}

/** With at most two decimals: more would only cost bytes. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export interface ChartView {
  /** Unique in the page. */
  id: string;
  title: string;
  /** Below the drawing until a point is chosen. */
  summary: string;
  points: readonly DrawnPoint[];
  /** Of the table: for the name, and for each cell. */
  headers: readonly string[];
  /** Of the table: true for hours of any day, which have no newest. */
  isOldestFirst?: boolean | undefined;
  /** Lines across the drawing with their labels, by their height in pixels. */
  ticks: readonly { y: number; text: string }[];
}

/**
 * A drawing with its values on hover, by arrow keys (charts.js) and as a table. `draw` draws one point within its group; `before` is
 * drawn below all of them.
 */
export function chartFrame(
  { id, title, summary, points, headers, ticks, isOldestFirst = false }: ChartView,
  { draw, before }: { draw: (index: number) => Html; before?: Html },
): Html {
  const x = columns(points.length);
  const left = (index: number): number => x(index) ?? 0;
  const labelled = points.filter(({ label }) => label !== '');
  return html`<figure class="chart" data-chart><figcaption id="${id}-title">${title}</figcaption>
<div class="plot" role="group" aria-labelledby="${id}-title" aria-describedby="${id}-keys"><svg role="img" aria-label="${title}: ${summary}" width="100%" height="${plot.height}">
<defs><pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" class="hatch"/></pattern></defs>
${ticks.map(
  ({ y }) => html`<line class="grid" x1="${plot.leftPercent}%" x2="100%" y1="${rounded(y)}" y2="${rounded(y)}"/>`,
)}${before}${points.map(
    (
      { name, spoken, label, isOpen },
      index,
    ) => html`<g class="point ${isOpen && 'open'}" data-spoken="${name}: ${spoken}">
<title>${name}: ${spoken}</title><rect class="column" x="${rounded(left(index))}%" y="0" width="${rounded(x.bandwidth())}%" height="${plot.bottom}"/>
${draw(index)}${label !== '' && html`<text class="axis below ${labelled.findIndex((each) => each.name === name) % 2 === 1 && 'alternate'}" x="${rounded(left(index) + x.bandwidth() / 2)}%" y="${plot.labels}" text-anchor="middle">${label}</text>`}</g>`,
  )}${ticks.map(({ y, text }) => html`<text class="axis" x="0" y="${rounded(y) + 4}">${text}</text>`)}
</svg></div>
<p class="value"><output>${summary}</output><span id="${id}-keys" class="unseen">Arrow keys read the values.</span></p>
<details><summary>Table</summary>${chartTable(title, headers, isOldestFirst ? points : points.toReversed())}</details></figure>`;
}

export function chartTable(title: string, headers: readonly string[], points: readonly DrawnPoint[]): Html {
  return html`<table class="list values"><caption class="unseen">${title}</caption>
<thead><tr>${headers.map((header, index) => html`<th scope="col" class="${index > 0 && 'number'}">${header}</th>`)}</tr></thead>
<tbody>${points.map(
    ({
      name,
      href,
      cells,
    }) => html`<tr><th scope="row">${href === undefined ? name : html`<a href="${href}">${name}</a>`}</th>
${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>`,
  )}</tbody></table>`;
}
