import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { countUnfinished, type Unfinished } from './queries/unfinished.ts';

export type { Unfinished } from './queries/unfinished.ts';

// Longer than a change and its work may be apart for a reader.
const graceMs = 60_000;

/** How many records are under way while nothing works on them: a fault of ours, which no retry mends. */
export function readUnfinished(db: Queryable, clock: Clock): Promise<Unfinished[]> {
  return countUnfinished(db, addMs(clock.now(), -graceMs));
}
