import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { addFigures, dimensions, noFigures, type Dimension, type FigureRow, type Figures } from './figures.ts';
import { computeFigures, type Owner } from './live-figures.ts';
import { findNextDay, listDaily, listNames, sumDailyByKey } from './queries/daily.ts';

/** Figures of some time, by day or hour and by what they are divided by. */
export interface Report {
  total: Figures;
  /** Every day or hour of the range in order, also those without any figure. */
  slots: { slot: Date; figures: Figures }[];
  /** The most collected first. Networks together are the total. */
  parts: Record<Dimension, { key: string; figures: Figures }[]>;
}

/** Days as `2026-11-24`, both included. */
export interface DayRange {
  from: string;
  to: string;
}

const hourMs = 60 * 60_000;

/** The figures of some days: those that are rolled up as they are stored, the others computed. */
export async function readDays(db: Queryable, owner: Owner, range: DayRange): Promise<Report> {
  const { rolledTo, live } = await readLive(db, owner, range);
  const rolled = { merchantId: owner.id, from: range.from, to: rolledTo };
  const [byDay, counters, links] =
    rolledTo < range.from
      ? [[], [], []]
      : [
          await listDaily(db, { ...rolled, dimension: 'network', key: null }),
          await sumDailyByKey(db, { ...rolled, dimension: 'counter' }),
          await sumDailyByKey(db, { ...rolled, dimension: 'link' }),
        ];
  const slot = new Date(range.from);
  return reportOf(
    [
      ...byDay.map(({ day, ...row }) => ({ ...row, slot: new Date(day) })),
      ...counters.map((row) => ({ ...noFigures, ...row, slot, dimension: 'counter' as const })),
      ...links.map((row) => ({ ...noFigures, ...row, slot, dimension: 'link' as const })),
      ...live,
    ],
    daysOf(range),
  );
}

/** The days of one network, counter or link. */
export async function readDaysOf(
  db: Queryable,
  owner: Owner,
  range: DayRange,
  { dimension, key }: { dimension: Dimension; key: string },
): Promise<Report> {
  const { rolledTo, live } = await readLive(db, owner, range);
  const rolled = await listDaily(db, { merchantId: owner.id, from: range.from, to: rolledTo, dimension, key });
  const rows: FigureRow[] = [...rolled.map(({ day, ...row }) => ({ ...row, slot: new Date(day) })), ...live];
  // As rows of a network, which are what a report adds up.
  return reportOf(
    rows
      .filter((row) => row.dimension === dimension && row.key === key)
      .map((row) => ({ ...row, dimension: 'network' as const })),
    daysOf(range),
  );
}

/** The figures of a day up to `until`, by hour, computed. */
export async function readHours(db: Queryable, owner: Owner, day: string, until?: Date): Promise<Report> {
  const from = new Date(day);
  const end = addMs(from, dayMs);
  const rows = await computeFigures(db, owner, { unit: 'hour', from, to: until && until < end ? until : end });
  return reportOf(
    rows,
    Array.from({ length: 24 }, (_, hour) => addMs(from, hour * hourMs)),
  );
}

/** The last day of the range that is rolled up, and the figures of the days after it. */
async function readLive(
  db: Queryable,
  owner: Owner,
  { from, to }: DayRange,
): Promise<{ rolledTo: string; live: FigureRow[] }> {
  // Read first: what is rolled up meanwhile is computed, and nothing is missing or counted twice.
  const nextDay = (await findNextDay(db, owner.id)) ?? from;
  const firstLive = nextDay < from ? from : nextDay;
  const live = await computeFigures(db, owner, {
    unit: 'day',
    from: new Date(firstLive),
    to: addMs(new Date(to), dayMs),
  });
  const lastRolled = utcDay(addMs(new Date(firstLive), -dayMs));
  return { rolledTo: lastRolled < to ? lastRolled : to, live };
}

function daysOf({ from, to }: DayRange): Date[] {
  const days: Date[] = [];
  for (let day = new Date(from); utcDay(day) <= to; day = addMs(day, dayMs)) days.push(day);
  return days;
}

function reportOf(rows: readonly FigureRow[], slots: readonly Date[]): Report {
  const sumBy = <Key>(of: readonly FigureRow[], keyOf: (row: FigureRow) => Key): Map<Key, Figures> => {
    const sums = new Map<Key, Figures>();
    for (const row of of) sums.set(keyOf(row), addFigures(sums.get(keyOf(row)) ?? noFigures, row));
    return sums;
  };
  const byDimension = (dimension: Dimension) => rows.filter((row) => row.dimension === dimension);
  const bySlot = sumBy(byDimension('network'), ({ slot }) => slot.getTime());
  const partsOf = (dimension: Dimension) =>
    [...sumBy(byDimension(dimension), ({ key }) => key)]
      .map(([key, figures]) => ({ key, figures }))
      .toSorted((one, other) => compare(moneyIn(other.figures), moneyIn(one.figures)));
  const parts = Object.fromEntries(dimensions.map((name) => [name, partsOf(name)])) as Report['parts'];
  return {
    total: parts.network.reduce((sum, { figures }) => addFigures(sum, figures), noFigures),
    slots: slots.map((slot) => ({ slot, figures: bySlot.get(slot.getTime()) ?? noFigures })),
    parts,
  };
}

function moneyIn({ collectedMinor, directMinor }: Figures): bigint {
  return collectedMinor + directMinor;
}

function compare(one: bigint, other: bigint): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The names of counters and links by id, also of deleted ones. */
export async function readNames(
  db: Queryable,
  merchantId: string,
  ids: { terminalIds: readonly string[]; paymentLinkIds: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  if (ids.terminalIds.length + ids.paymentLinkIds.length === 0) return new Map();
  const rows = await listNames(db, merchantId, ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
