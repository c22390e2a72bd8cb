import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { mergeRows, noFigures, type CollectedFigure, type Dimension, type FigureRow, type Figures } from './figures.ts';
import { listMoved, listUnpaid, type Range, type SlotKeys } from './queries/moved.ts';

/** Whose figures. */
export interface Owner {
  id: string;
  currency: string;
}

// A movement's id is made moments after the time that the movement carries; an hour is far more than any transaction takes.
const idDelayMs = 60 * 60_000;
// Payments end within minutes or hours of their creation; later only those that a person decides.
const intentAgeMaxMs = 3 * dayMs;

/** The ids and times of the movements of a range; `to` is excluded. */
export function movementRange({ id: merchantId, currency }: Owner, { from, to }: { from: Date; to: Date }): Range {
  return { merchantId, currency, from, to, firstId: firstIdAt(from), endId: firstIdAt(addMs(to, idDelayMs)) };
}

/** The same for the payments that ended in the range. */
export function intentRange(owner: Owner, range: { from: Date; to: Date }): Range {
  return { ...movementRange(owner, range), firstId: firstIdAt(addMs(range.from, -intentAgeMaxMs)) };
}

/** Computed from movements and payments, by hour or day. Costs a look-up for each record that moved money in the range. */
export async function computeFigures(
  db: Queryable,
  owner: Owner,
  { unit, from, to }: { unit: 'hour' | 'day'; from: Date; to: Date },
): Promise<FigureRow[]> {
  if (from >= to) return [];
  const moved = await listMoved(db, unit, movementRange(owner, { from, to }));
  const unpaid = await listUnpaid(db, unit, intentRange(owner, { from, to }));
  const rows: FigureRow[] = [];
  const add = (at: SlotKeys, figures: Figures): void => {
    for (const { dimension, key } of keysOf(at)) {
      rows.push({ slot: at.slot, dimension, key, ...(dimension === 'network' ? figures : collectedOnly(figures)) });
    }
  };
  for (const { slot, network, terminalId, paymentLinkId, ...figures } of moved) {
    add({ slot, network, terminalId, paymentLinkId }, { ...figures, unpaidCount: 0n });
  }
  for (const { count, ...at } of unpaid) add(at, { ...noFigures, unpaidCount: count });
  return mergeRows(rows).filter(hasFigure);
}

function keysOf({ network, terminalId, paymentLinkId }: SlotKeys): { dimension: Dimension; key: string }[] {
  return [
    { dimension: 'network', key: network },
    ...(terminalId === null ? [] : [{ dimension: 'counter' as const, key: terminalId }]),
    ...(paymentLinkId === null ? [] : [{ dimension: 'link' as const, key: paymentLinkId }]),
  ];
}

/** Transfers and refunds are of no counter or link. */
function collectedOnly(figures: Figures): Figures {
  const { collectedMinor, collectedCount, directMinor, directCount, directBackMinor, unpaidCount } = figures;
  const collected: Pick<Figures, CollectedFigure> = {
    ...{ collectedMinor, collectedCount, directMinor, directCount, directBackMinor, unpaidCount },
  };
  return { ...noFigures, ...collected };
}

/** Most movements move money between a merchant's own accounts and count nowhere. */
function hasFigure(row: FigureRow): boolean {
  return (Object.keys(noFigures) as (keyof Figures)[]).some((name) => row[name] !== 0n);
}
