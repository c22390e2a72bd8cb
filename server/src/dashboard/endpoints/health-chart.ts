import { html, type Html } from '../../kit/html.ts';
import type { HourOfAttempts } from '../../webhooks/hourly-attempts.ts';
import { shownTime } from '../../portal/patterns/texts.ts';

const width = 720;
const height = 97;
const chartHeight = 96;
const barGap = 2;

/** Tries in each hour as bars: delivered solid, failed hatched on top; the same as a table behind it. */
export function healthChart(hours: readonly HourOfAttempts[], now: Date): Html {
  const most = Math.max(1, ...hours.map(({ delivered, failed }) => delivered + failed));
  const step = width / hours.length;
  const heightOf = (count: number): number => Math.round((count / most) * chartHeight * 10) / 10;
  const [delivered, failed] = [sum(hours, 'delivered'), sum(hours, 'failed')];
  const summary = `Tries in the last 72 hours: ${delivered} delivered, ${failed} failed.`;
  const active = hours.filter((hour) => hour.delivered + hour.failed > 0);
  return html`<section class="panel"><h2>Last 72 hours</h2><p>${summary}</p>
<svg class="health" viewBox="0 0 ${width} ${height}" role="img" aria-label="${summary}">
<defs><pattern id="failed-hatch" width="4" height="4" patternUnits="userSpaceOnUse"><path class="hatch" d="M0 4L4 0"/></pattern></defs>
<path class="axis" d="M0 ${chartHeight}.5H${width}"/>
${hours.map((hour, index) => {
  const x = Math.round(index * step * 10) / 10;
  const good = heightOf(hour.delivered);
  const bad = heightOf(hour.failed);
  const barWidth = Math.round((step - barGap) * 10) / 10;
  return html`${good > 0 && html`<rect class="delivered" x="${x}" y="${chartHeight - good}" width="${barWidth}" height="${good}"/>`}${
    bad > 0 &&
    html`<rect class="failed" x="${x}" y="${Math.max(0, chartHeight - good - bad)}" width="${barWidth}" height="${bad}"/>`
  }`;
})}</svg>
<p class="hours"><span>3 days ago</span><span>Now</span></p>
<p class="count">Solid: delivered. Hatched: failed. The tallest bar is ${most} in an hour.</p>
<details><summary>Table</summary>${
    active.length === 0
      ? html`<p>No tries.</p>`
      : html`<table class="list"><thead><tr><th scope="col">Hour</th><th scope="col" class="number">Delivered</th><th scope="col" class="number">Failed</th></tr></thead>
<tbody>${active
          .toReversed()
          .map(
            (hour) =>
              html`<tr><td>${shownTime(hour.hour, now)}</td><td class="number">${hour.delivered}</td><td class="number">${hour.failed}</td></tr>`,
          )}</tbody></table>`
  }</details></section>`;
}

function sum(hours: readonly HourOfAttempts[], field: 'delivered' | 'failed'): number {
  return hours.reduce((total, hour) => total + hour[field], 0);
}
