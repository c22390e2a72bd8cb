import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { html, type Html } from '../../../kit/html.ts';
import { chartFrame, columns, plot, rounded, type ChartPoint } from './chart-frame.ts';
import { rateText } from '../../../portal/patterns/texts.ts';

/** How many of how many. */
export interface RatePoint extends ChartPoint {
  part: bigint;
  of: bigint;
}

/** A rate as a line from 0 to 100%; points without any try are left out. */
export function rateChart({ id, title, points }: { id: string; title: string; points: readonly RatePoint[] }): Html {
  const x = columns(points.length);
  const y = scaleLinear().domain([0, 1]).range([plot.bottom, plot.top]);
  const rateOf = ({ part, of }: RatePoint): number => Number(part) / Number(of);
  const centre = (index: number): number => (x(index) ?? 0) + x.bandwidth() / 2;
  const path = line<RatePoint>()
    .defined(({ of }) => of > 0n)
    .x((_point, index) => rounded(centre(index)))
    .y((point) => rounded(y(rateOf(point))));
  const draw = (index: number): Html => {
    const point = points[index];
    if (!point || point.of === 0n) return html``;
    return html`<circle class="dot" cx="${rounded(centre(index))}%" cy="${rounded(y(rateOf(point)))}" r="3"/>`;
  };
  const total = points.reduce((sum, { part, of }) => ({ part: sum.part + part, of: sum.of + of }), {
    part: 0n,
    of: 0n,
  });
  return chartFrame(
    {
      id,
      title,
      summary: total.of === 0n ? 'No payment has ended yet' : `Together ${rateText(total)}`,
      headers: ['', 'Paid', 'Tried'],
      points: points.map((point) => ({
        ...point,
        spoken: rateText(point),
        cells: [point.part, point.of].map((count) => count.toLocaleString('en-GB')),
      })),
      ticks: [0, 0.5, 1].map((value) => ({ y: y(value), text: `${value * 100}%` })),
    },
    {
      draw,
      // Stretched to the width, in percent; its line keeps its own width.
      before: html`<svg x="0" y="0" width="100%" height="${plot.height}" viewBox="0 0 100 ${plot.height}" preserveAspectRatio="none"><path class="rate" d="${path([...points]) ?? ''}"/></svg>`,
    },
  );
}
