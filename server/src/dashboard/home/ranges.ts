import { dayText } from '../../portal/patterns/texts.ts';
import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { isDay } from '../../kit/time-or-day.ts';
import { addFigures, noFigures, type Figures } from '../../reports/figures.ts';
import type { Report } from '../../reports/read-report.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { ChartPoint } from '../patterns/charts/chart-frame.ts';

/** A tab of the home page. */
export interface RangeTab {
  name: string;
  text: string;
  /** What a phone leaves out of the text. */
  unit?: string;
  /** Of the last so many days, today included. */
  days: number;
}

const today: RangeTab = { name: 'today', text: 'Today', days: 1 };
const yesterday: RangeTab = { name: 'yesterday', text: 'Yesterday', days: 1 };

export const rangeTabs: readonly RangeTab[] = [
  today,
  yesterday,
  { name: '7', text: '7', unit: 'days', days: 7 },
  { name: '30', text: '30', unit: 'days', days: 30 },
  { name: '365', text: '365', unit: 'days', days: 365 },
];

/** Days that figures are of, as `2026-11-24`, both included. */
export interface ShownRange {
  /** Of the tab; null for a day that was named itself. */
  tab: RangeTab | null;
  from: string;
  to: string;
  /** `Today`, `the last 30 days`, `24 Nov 2026`. */
  text: string;
}

/** The range of a page's address: `range=30`, or `day=2026-11-24`; today for anything else. */
export function readRange({ range, day }: PageInput['query'], now: Date): ShownRange {
  const last = utcDay(now);
  if (day !== undefined && isDay(day) && day <= last) return { tab: null, from: day, to: day, text: dayText(day) };
  const tab = rangeTabs.find(({ name }) => name === range) ?? today;
  if (tab === yesterday) {
    const before = utcDay(addMs(now, -dayMs));
    return { tab, from: before, to: before, text: 'Yesterday' };
  }
  const from = utcDay(addMs(now, -(tab.days - 1) * dayMs));
  return { tab, from, to: last, text: tab === today ? 'Today' : `the last ${tab.days} days` };
}

export function isOneDay({ from, to }: ShownRange): boolean {
  return from === to;
}

const shortDayForm = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const weekdayForm = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });

/** A point of a chart with its figures. */
export interface FigurePoint extends ChartPoint {
  figures: Figures;
}

/** A report as the points of charts: hours of one day, days, or the weeks of a longer time. `hrefOf` leads to a day's records. */
export function pointsOf(
  report: Report,
  range: ShownRange,
  { now, hrefOf }: { now: Date; hrefOf: (day: string) => string },
): FigurePoint[] {
  if (isOneDay(range)) return report.slots.map((slot) => hourPoint(slot, now));
  if (report.slots.length > daysDrawnMax) return weekPoints(report.slots, now);
  const isShort = report.slots.length <= 7;
  return report.slots.map(({ slot, figures }, index) => {
    const day = utcDay(slot);
    // Counted from today, which the last label is nearest to.
    const isLabelled = isShort || (report.slots.length - 1 - index) % 7 === 3;
    const label = isShort ? weekdayForm.format(slot) : shortDayForm.format(slot);
    const isOpen = day === utcDay(now);
    return { figures, name: dayText(day), label: isLabelled ? label : '', isOpen, href: hrefOf(day) };
  });
}

// More bars than that are too thin for a phone.
const daysDrawnMax = 60;

function hourPoint({ slot, figures }: Report['slots'][number], now: Date): FigurePoint {
  const hour = slot.getUTCHours();
  const start = `${String(hour).padStart(2, '0')}:00`;
  const isOpen = slot.toISOString().slice(0, 13) === now.toISOString().slice(0, 13);
  return {
    figures,
    name: `${start} to ${String(hour + 1).padStart(2, '0')}:00`,
    label: hour % 6 === 0 ? start : '',
    isOpen,
  };
}

/** Seven days each, the last ending today. */
function weekPoints(slots: Report['slots'], now: Date): FigurePoint[] {
  const points: FigurePoint[] = [];
  let lastMonth = '';
  for (let end = slots.length % 7 === 0 ? 7 : slots.length % 7; end <= slots.length; end += 7) {
    const days = slots.slice(Math.max(0, end - 7), end);
    const [first, last] = [days[0], days.at(-1)];
    if (!first || !last) continue;
    const month = shortDayForm.format(last.slot).split(' ')[1] ?? '';
    // Every other month, so that the labels fit a phone.
    const isLabelled = month !== lastMonth && last.slot.getUTCMonth() % 2 === now.getUTCMonth() % 2;
    lastMonth = month;
    points.push({
      figures: days.reduce((sum, { figures }) => addFigures(sum, figures), noFigures),
      name: `${shortDayForm.format(first.slot)} to ${dayText(utcDay(last.slot))}`,
      label: isLabelled ? month : '',
      isOpen: utcDay(last.slot) === utcDay(now),
    });
  }
  return points;
}
