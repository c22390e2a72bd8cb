/** What moved for a merchant in some time, each amount in bututs. */
export interface Figures {
  /** What payers paid, fees included. */
  collectedMinor: bigint;
  /** Payments whose money arrived. */
  collectedCount: bigint;
  /** What payers sent straight to the merchant's own number (docs/receipts.md): in no balance, and in no figure above or below. */
  directMinor: bigint;
  directCount: bigint;
  /** What of it the merchant gave back, or a statement has contradicted. */
  directBackMinor: bigint;
  /** Payments that somebody tried to pay and that ended unpaid. */
  unpaidCount: bigint;
  /** Payments, or parts of them, that networks took back. */
  reversedMinor: bigint;
  /** Transfers and payouts of sub-accounts that left, without fees. */
  paidOutMinor: bigint;
  paidOutCount: bigint;
  refundedMinor: bigint;
  refundedCount: bigint;
  /** What networks sent back of transfers, payouts and refunds. */
  returnedMinor: bigint;
  /** The operator's fees, less those that were returned: below zero where more went back. */
  feesMinor: bigint;
}

export const noFigures: Figures = {
  collectedMinor: 0n,
  collectedCount: 0n,
  directMinor: 0n,
  directCount: 0n,
  directBackMinor: 0n,
  unpaidCount: 0n,
  reversedMinor: 0n,
  paidOutMinor: 0n,
  paidOutCount: 0n,
  refundedMinor: 0n,
  refundedCount: 0n,
  returnedMinor: 0n,
  feesMinor: 0n,
};

const names = Object.keys(noFigures) as (keyof Figures)[];

export function addFigures(one: Figures, other: Figures): Figures {
  const sum = { ...noFigures };
  for (const name of names) sum[name] = one[name] + other[name];
  return sum;
}

/** Payments that were paid, of those that somebody tried and that have ended. */
export function successRate({ collectedCount, directCount, unpaidCount }: Figures): { part: bigint; of: bigint } {
  const part = collectedCount + directCount;
  return { part, of: part + unpaidCount };
}

/** The figures of counters and links; transfers and refunds are of none. */
export type CollectedFigure =
  | 'collectedMinor'
  | 'collectedCount'
  | 'directMinor'
  | 'directCount'
  | 'directBackMinor'
  | 'unpaidCount';

/** What figures are divided by: every figure by network, and what was collected by counter and by link. */
export const dimensions = ['network', 'counter', 'link'] as const;
export type Dimension = (typeof dimensions)[number];

/** The figures of one day or hour and one network, counter or link. */
export interface FigureRow extends Figures {
  dimension: Dimension;
  /** The network, or the id of the counter or link. Networks together are everything. */
  key: string;
  /** The beginning of the day or hour, UTC. */
  slot: Date;
}

/** The rows of the same dimension, slot and key added up. */
export function mergeRows(rows: readonly FigureRow[]): FigureRow[] {
  const merged = new Map<string, FigureRow>();
  for (const row of rows) {
    const at = `${row.dimension} ${row.slot.toISOString()} ${row.key}`;
    const earlier = merged.get(at);
    merged.set(at, earlier ? { ...earlier, ...addFigures(earlier, row) } : row);
  }
  return [...merged.values()];
}
