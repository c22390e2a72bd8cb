import { html, type Html } from '../../kit/html.ts';

/** A part of a whole, in hundredths of a percent. */
export interface Part {
  name: Html | string;
  percentHundredths: bigint;
}

const widthUnits = 1_000;
const heightUnits = 120;
const wholeHundredths = 10_000;
const coloursCount = 5;
// A narrower part has no room for its number.
const numberedFromUnits = 45;

/** Parts drawn to scale, each with its number; the list that follows names them. The last part is what the business keeps. */
export function shareBar(parts: readonly Part[], label: string): Html {
  let x = 0;
  const drawn = parts.map(({ percentHundredths }, index) => {
    const width = (Number(percentHundredths) / wholeHundredths) * widthUnits;
    const start = x;
    x += width;
    if (width === 0) return html``;
    const isRest = index === parts.length - 1;
    const number =
      width >= numberedFromUnits &&
      html`<text x="${round(start + width / 2)}" y="${heightUnits / 2}">${index + 1}</text>`;
    return html`<g class="${isRest ? 'rest' : `part-${index % coloursCount}`}"><rect x="${round(start)}" y="1" width="${round(width)}" height="${heightUnits - 2}"/>${number}</g>`;
  });
  return html`<svg class="shares" viewBox="0 0 ${widthUnits} ${heightUnits}" role="img" aria-label="${label}">${drawn}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
