import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { addFigures, type FigureRow } from './figures.ts';
import { computeFigures, intentRange, movementRange, type Owner } from './live-figures.ts';
import {
  listActiveMerchants,
  listNextDays,
  sumDailyOfMerchants,
  type TotalsKeys,
  type TotalsRow,
} from './queries/totals.ts';
import type { DayRange } from './read-report.ts';

export type { TotalsKeys, TotalsRow } from './queries/totals.ts';

/**
 * The figures of several merchants together, divided by what `keys` names. The same figures as each merchant's own report has:
 * days that are rolled up as they are stored, the others computed for those merchants with whom anything happened.
 */
export async function readTotals(
  db: Queryable,
  owners: readonly Owner[],
  { range, keys, network }: { range: DayRange; keys: TotalsKeys; network: string | null },
): Promise<TotalsRow[]> {
  const { from, to } = range;
  const merchantIds = owners.map(({ id }) => id);
  // Read first: what is rolled up meanwhile is computed, and nothing is missing or counted twice.
  const nextDays = new Map((await listNextDays(db, merchantIds)).map(({ id, day }) => [id, day]));
  const firstLive = (id: string): string => {
    const next = nextDays.get(id) ?? from;
    return next < from ? from : next;
  };
  const live = await readLiveRows(db, owners, { to, firstLive });
  const rolled = owners.flatMap(({ id }) => {
    const before = utcDay(addMs(new Date(firstLive(id)), -dayMs));
    const day = before < to ? before : to;
    return day < from ? [] : [{ merchantId: id, day }];
  });
  const stored = rolled.length === 0 ? [] : await sumDailyOfMerchants(db, keys, { rolled, from, network });
  const computed = live
    .filter(({ row }) => network === null || row.key === network)
    .map(({ merchantId, row }): TotalsRow => {
      const { dimension: _dimension, key, slot, ...figures } = row;
      return {
        ...figures,
        day: keys.byDay ? utcDay(slot) : '',
        merchantId: keys.byMerchant ? merchantId : '',
        network: keys.byNetwork ? key : '',
      };
    });
  return merged([...stored, ...computed]);
}

interface LiveRow {
  merchantId: string;
  row: FigureRow;
}

async function readLiveRows(
  db: Queryable,
  owners: readonly Owner[],
  { to, firstLive }: { to: string; firstLive: (id: string) => string },
): Promise<LiveRow[]> {
  const due = owners.filter(({ id }) => firstLive(id) <= to);
  const [first] = due;
  if (!first) return [];
  const earliest = due.map(({ id }) => firstLive(id)).reduce((one, other) => (other < one ? other : one));
  const from = new Date(earliest);
  const end = addMs(new Date(to), dayMs);
  const active = await listActiveMerchants(db, {
    merchantIds: due.map(({ id }) => id),
    from,
    movementId: movementRange(first, { from, to: end }).firstId,
    intentId: intentRange(first, { from, to: end }).firstId,
  });
  const activeIds = new Set(active.map(({ id }) => id));
  const rows: LiveRow[] = [];
  // One merchant after another: the page takes one connection, however many there are.
  for (const owner of due.filter(({ id }) => activeIds.has(id))) {
    const range = { unit: 'day', from: new Date(firstLive(owner.id)), to: end } as const;
    const figures = (await computeFigures(db, owner, range)).filter(({ dimension }) => dimension === 'network');
    rows.push(...figures.map((row) => ({ merchantId: owner.id, row })));
  }
  return rows;
}

function merged(rows: readonly TotalsRow[]): TotalsRow[] {
  const sums = new Map<string, TotalsRow>();
  for (const row of rows) {
    const key = totalsKey(row);
    const earlier = sums.get(key);
    sums.set(key, earlier ? { ...row, ...addFigures(earlier, row) } : row);
  }
  return [...sums.values()];
}

/** Names a row among those of the same totals. */
export function totalsKey({ day, merchantId, network }: TotalsRow): string {
  return `${day}_${merchantId}_${network}`;
}
