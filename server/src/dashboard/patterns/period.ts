import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { firstMoment, isDay, lastMoment } from '../../kit/time-or-day.ts';

/** Whole days, UTC, both included. */
export interface Period {
  from: string;
  to: string;
}

const daysMax = 366;

/**
 * The two date fields of an address, at most a leap year apart; without them this month so far, or today. What is no day
 * counts as not sent.
 */
export function periodOf(
  query: Readonly<Record<string, string>>,
  now: Date,
  unsent: 'month' | 'today' = 'month',
): Period {
  const { from = '', to = '' } = query;
  const end = isDay(to) ? to : utcDay(now);
  const usual = unsent === 'today' ? end : `${end.slice(0, 7)}-01`;
  const begin = isDay(from) ? from : usual;
  if (begin > end) return periodOf({ from: end, to: begin }, now);
  const earliest = utcDay(addMs(firstMoment(end), (1 - daysMax) * dayMs));
  return { from: begin < earliest ? earliest : begin, to: end };
}

/** The first and the last millisecond. */
export function momentsOf({ from, to }: Period): { from: Date; to: Date } {
  return { from: firstMoment(from), to: lastMoment(to) };
}

/** The form that chooses a period. */
export function periodForm(path: string, { from, to }: Period): Html {
  const field = (name: string, label: string, value: string): Html =>
    html`<div class="field date"><label for="period-${name}">${label}</label>
<input id="period-${name}" name="${name}" type="date" value="${value}"></div>`;
  return html`<form method="get" action="${path}" class="filters period">
${field('from', 'From', from)}${field('to', 'To', to)}<button class="button small plain">Show</button></form>`;
}
