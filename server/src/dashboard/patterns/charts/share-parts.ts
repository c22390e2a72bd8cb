import { html, type Html } from '../../../kit/html.ts';

/** A part of a whole. */
export interface SharePart {
  name: Html | string;
  /** In any unit, the same for all parts. */
  size: bigint;
  /** Its size as people read it: `12.5%`. */
  text: string;
  hint?: string;
}

const widthUnits = 1_000;
const heightUnits = 120;
const coloursCount = 5;
// A narrower part has no room for its number.
const numberedFromUnits = 45;

/** Parts drawn to scale, each with its number, and the list that names them. The last part has the colour of the rest. */
export function shareParts(parts: readonly SharePart[], label: string): Html {
  const whole = Math.max(
    1,
    parts.reduce((sum, { size }) => sum + Number(size), 0),
  );
  let x = 0;
  const drawn = parts.map(({ size }, index) => {
    const width = (Number(size) / whole) * widthUnits;
    const start = x;
    x += width;
    if (width === 0) return html``;
    const isRest = index === parts.length - 1;
    const number =
      width >= numberedFromUnits &&
      html`<text x="${round(start + width / 2)}" y="${heightUnits / 2}">${index + 1}</text>`;
    return html`<g class="${isRest ? 'rest' : `part-${index % coloursCount}`}"><rect x="${round(start)}" y="1" width="${round(width)}" height="${heightUnits - 2}"/>${number}</g>`;
  });
  return html`<svg class="shares" viewBox="0 0 ${widthUnits} ${heightUnits}" role="img" aria-label="${label}">${drawn}</svg>
<ol class="shares">${parts.map(
    ({ name, text, hint }) =>
      html`<li><span>${name}</span><span class="size">${text}</span>${hint && html`<p class="hint">${hint}</p>`}</li>`,
  )}</ol>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
