/** One bar of the plot. */
export interface Bar {
  label: string;
  value: number;
  /** Drawn as a line across the bar. */
  aim?: number;
  better: 'higher' | 'lower';
  unit: 'ratio' | 'ms' | 's' | 'MiB';
}

const width = 720;
const labelWidth = 240;
const barsWidth = 360;
const rowHeight = 30;
const barHeight = 16;
const margin = 16;
const headHeight = 52;

// Readable on white and on black, whichever the page around the picture has.
const style = `
  text { font: 13px system-ui, sans-serif; fill: #6b7280; }
  .title { font-weight: 600; }
  .value { font-variant-numeric: tabular-nums; }
  .track { fill: #9ca3af; opacity: 0.18; }
  .met { fill: #2f9e68; }
  .missed { fill: #d9822b; }
  .plain { fill: #4f86c6; }
  .aim { stroke: #6b7280; stroke-width: 2; stroke-dasharray: 3 2; }`;

/** All bars in one SVG, each with its own scale, since ratios, times and memory have no common one. */
export function plot(bars: readonly Bar[]): string {
  const height = headHeight + bars.length * rowHeight + margin;
  const legend = 'green: the aim (dashed) is met; orange: it is missed; blue: no aim';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Benchmark results">
<style>${style}
</style>
<text class="title" x="${margin}" y="22">Benchmarks of Dalasi</text>
<text x="${margin}" y="40">${legend}</text>
${bars.map((bar, index) => row(bar, headHeight + index * rowHeight)).join('\n')}
</svg>
`;
}

function row(bar: Bar, top: number): string {
  const { label, value, aim } = bar;
  const full = Math.max(value, aim ?? 0) * 1.1;
  const scaled = (figure: number): number => Math.round((figure / full) * barsWidth);
  const middle = top + barHeight - 3;
  const x = margin + labelWidth;
  return [
    `<text x="${margin}" y="${middle}">${escapeXml(label)}</text>`,
    `<rect class="track" x="${x}" y="${top}" width="${barsWidth}" height="${barHeight}" rx="3"/>`,
    `<rect class="${classify(bar)}" x="${x}" y="${top}" width="${scaled(value)}" height="${barHeight}" rx="3"/>`,
    ...(aim === undefined
      ? []
      : [
          `<line class="aim" x1="${x + scaled(aim)}" y1="${top - 3}" x2="${x + scaled(aim)}" y2="${top + barHeight + 3}"/>`,
        ]),
    `<text class="value" x="${x + barsWidth + 10}" y="${middle}">${format(bar)}</text>`,
  ].join('\n');
}

function classify({ value, aim, better }: Bar): 'met' | 'missed' | 'plain' {
  if (aim === undefined) return 'plain';
  return (better === 'higher' ? value >= aim : value <= aim) ? 'met' : 'missed';
}

function format({ value, unit }: Bar): string {
  return unit === 'ratio' ? value.toFixed(2) : `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
