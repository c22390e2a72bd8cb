import type { Queryable } from '../kit/db.ts';
import type { Compared } from './compare.ts';
import type { Difference } from './difference.ts';
import { listFloatMovements, listRecords, listTransactionOwners, type FloatMovement } from './queries/books.ts';
import { listDifferencesOf } from './queries/differences.ts';
import { listLinesOfSubjects } from './queries/lines.ts';
import type { LineSubject } from './statement-line.ts';

/** The bounds of a UTC day. */
export interface DayBounds {
  start: Date;
  end: Date;
}

/** One record on all three sides, with what is stored of its differences. */
export interface LoadedSubject extends Compared {
  subject: LineSubject;
  differences: Difference[];
}

/**
 * Everything about these records: one statement for each side, whatever their number. What was corrected by a difference is
 * booked under the difference, and counts for its record.
 */
export async function loadCompared(
  { db }: { db: Queryable },
  railAccount: string,
  subjects: readonly LineSubject[],
  bounds: DayBounds,
): Promise<LoadedSubject[]> {
  if (subjects.length === 0) return [];
  const ids = subjects.map(({ id }) => id);
  const [lines, differences, records] = [
    Map.groupBy(await listLinesOfSubjects(db, railAccount, ids), ({ subject }) => subject?.id),
    Map.groupBy(await listDifferencesOf(db, railAccount, ids), ({ subjectId }) => subjectId),
    new Map((await listRecords(db, subjects)).map((record) => [record.id, record])),
  ];
  const corrections = [...differences.values()].flat();
  const movements = Map.groupBy(
    await listFloatMovements(db, { float: `float:${railAccount}`, ...bounds, sources: [...subjects, ...corrections] }),
    ({ sourceId }) => sourceId,
  );
  const transactionIds = [...lines.values()].flat().map(({ transactionId }) => transactionId);
  const settled = Map.groupBy(await listTransactionOwners(db, railAccount, transactionIds), ({ id }) => id);
  return subjects.flatMap((subject) => {
    const record = records.get(subject.id);
    if (!record) return [];
    const ownDifferences = differences.get(subject.id) ?? [];
    return [
      {
        subject,
        record,
        differences: ownDifferences,
        lines: lines.get(subject.id) ?? [],
        movements: movementsOf(movements, [subject, ...ownDifferences]),
        settledTransactions: new Set((settled.get(subject.id) ?? []).map(({ transactionId }) => transactionId)),
      },
    ];
  });
}

export function movementsOf(
  movements: ReadonlyMap<string, readonly FloatMovement[]>,
  sources: readonly { id: string }[],
): FloatMovement[] {
  return sources.flatMap(({ id }) => movements.get(id) ?? []);
}
