import type { DifferenceClass } from './compare.ts';
import type { LineSubject } from './statement-line.ts';

/** Where a record, the ledger and the statement differ. Amounts are bututs. */
export interface Difference {
  railAccount: string;
  id: string;
  class: DifferenceClass;
  /** `in_transit`: its line may come with the next statement. */
  state: 'in_transit' | 'open' | 'resolved';
  subjectType: LineSubject['type'] | 'line';
  subjectId: string;
  /** Whose record it is; of a line without one, whose books hold it. */
  merchantId: string;
  lineId: string | null;
  /** The day on which it was found. */
  day: string;
  resolvedDay: string | null;
  /** How it ended: `agrees`, `booked`, or what two operators decided. */
  resolution: string | null;
  oursMinor: bigint;
  theirsMinor: bigint;
  currency: string;
  summary: string;
  caseId: string | null;
  createdAt: Date;
  updatedAt: Date;
}
