import { scaleLinear } from 'd3-scale';
import { html, type Html } from '../../../kit/html.ts';
import { formatAmount } from '../../../kit/money.ts';
import { chartFrame, columns, plot, rounded, type ChartPoint, type DrawnPoint } from './chart-frame.ts';

/** An amount of a bar chart. */
export interface MoneyPoint extends ChartPoint {
  amountMinor: bigint;
  /** What else is said of it: `38 paid`. */
  note?: string;
}

/** Amounts as bars from zero. */
export function barChart({
  id,
  title,
  points,
  noteHeader,
  isOldestFirst,
}: {
  id: string;
  title: string;
  points: readonly MoneyPoint[];
  /** Of the table's column with the notes. */
  noteHeader?: string;
  isOldestFirst?: boolean;
}): Html {
  const dalasiOf = ({ amountMinor }: MoneyPoint): number => Number(amountMinor) / 100;
  const highest = Math.max(...points.map(dalasiOf), 0);
  const lowest = Math.min(...points.map(dalasiOf), 0);
  const y = scaleLinear()
    .domain([lowest, highest === 0 && lowest === 0 ? 100 : highest])
    .nice(4)
    .range([plot.bottom, plot.top]);
  const x = columns(points.length);
  const zero = y(0);
  const draw = (index: number): Html => {
    const point = points[index];
    if (!point || point.amountMinor === 0n) return html``;
    const end = y(dalasiOf(point));
    // At least a pixel: a day with money must not look like one without.
    const height = Math.max(1, Math.abs(zero - end));
    const box = html`x="${rounded(x(index) ?? 0)}%" y="${rounded(end < zero ? zero - height : zero)}" width="${rounded(x.bandwidth())}%" height="${rounded(height)}"`;
    return html`<rect class="bar" ${box}/>${point.isOpen && html`<rect class="over" ${box} fill="url(#${id}-hatch)"/>`}`;
  };
  return chartFrame(
    {
      id,
      title,
      summary: summaryOf(points),
      isOldestFirst,
      headers: ['', 'Amount', ...(noteHeader === undefined ? [] : [noteHeader])],
      points: points.map((point) => drawn(point, noteHeader !== undefined)),
      ticks: y.ticks(4).map((value) => ({ y: y(value), text: shortAmount(value) })),
    },
    {
      draw,
      before: html`<line class="zero" x1="${plot.leftPercent}%" x2="100%" y1="${rounded(zero)}" y2="${rounded(zero)}"/>`,
    },
  );
}

/** A money point as its table and its spoken value have it. */
export function drawn(point: MoneyPoint, hasNote: boolean): DrawnPoint {
  const amount = formatAmount(point.amountMinor);
  const note = point.note ?? '';
  return {
    ...point,
    spoken: note === '' ? amount : `${amount}, ${note}`,
    cells: hasNote ? [amount, note] : [amount],
  };
}

function summaryOf(points: readonly MoneyPoint[]): string {
  const [first, ...others] = points;
  if (!first) return 'Nothing yet';
  const most = others.reduce((best, point) => (point.amountMinor > best.amountMinor ? point : best), first);
  return most.amountMinor > 0n ? `Most: ${most.name}, ${formatAmount(most.amountMinor)}` : 'Nothing yet';
}

const shortForm = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `D2.5K`: labels of the axis have little room, and the values are elsewhere. */
function shortAmount(dalasi: number): string {
  return `${dalasi < 0 ? '-' : ''}D${shortForm.format(Math.abs(dalasi))}`;
}
