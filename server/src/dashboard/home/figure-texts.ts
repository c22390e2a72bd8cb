import { formatAmount } from '../../kit/money.ts';
import { successRate, type Figures } from '../../reports/figures.ts';
import type { FigureName } from '../../reports/read-records.ts';
import { rateText } from '../../portal/patterns/texts.ts';

/** A figure as pages show it. Its name is the last part of the address of its list. */
export interface ShownFigure {
  name: string;
  /** Of the records behind it. */
  records: FigureName;
  title: string;
  amountOf: (figures: Figures) => bigint;
  /** `38 paid`. */
  noteOf?: (figures: Figures) => string;
  /** Shown only where there is any: most shops never have it. */
  isRare?: boolean;
}

export const collected: ShownFigure = {
  name: 'collected',
  records: 'collected',
  title: 'Collected',
  amountOf: ({ collectedMinor }) => collectedMinor,
  noteOf: ({ collectedCount }) => `${countText(collectedCount)} paid`,
};

/** Money that payers sent straight to the business's own number, which no balance has. */
export const receivedDirectly: ShownFigure = {
  name: 'received-directly',
  records: 'direct',
  title: 'Received directly',
  amountOf: ({ directMinor }) => directMinor,
  noteOf: ({ directCount }) => `${countText(directCount)} paid`,
  isRare: true,
};

export const shownFigures: readonly ShownFigure[] = [
  collected,
  receivedDirectly,
  {
    name: 'paid-out',
    records: 'paid_out',
    title: 'Paid out',
    amountOf: ({ paidOutMinor }) => paidOutMinor,
    noteOf: ({ paidOutCount }) => `${countText(paidOutCount)} arrived`,
  },
  { name: 'fees', records: 'fees', title: 'Fees', amountOf: ({ feesMinor }) => feesMinor },
  {
    name: 'refunds',
    records: 'refunded',
    title: 'Refunds',
    amountOf: ({ refundedMinor }) => refundedMinor,
    noteOf: ({ refundedCount }) => `${countText(refundedCount)} refunded`,
  },
  {
    name: 'taken-back',
    records: 'reversed',
    title: 'Taken back',
    amountOf: ({ reversedMinor }) => reversedMinor,
    isRare: true,
  },
  {
    name: 'given-back-directly',
    records: 'direct_back',
    title: 'Given or taken back directly',
    amountOf: ({ directBackMinor }) => directBackMinor,
    isRare: true,
  },
  {
    name: 'came-back',
    records: 'returned',
    title: 'Came back',
    amountOf: ({ returnedMinor }) => returnedMinor,
    isRare: true,
  },
];

/** The success rate, whose list is of the payments that ended unpaid. */
export const unpaid: ShownFigure = {
  name: 'unpaid',
  records: 'unpaid',
  title: 'Not paid',
  amountOf: ({ unpaidCount }) => unpaidCount,
};

export function successText(figures: Figures): string {
  return rateText(successRate(figures));
}

/** `D4,250.00, 38 paid` */
export function figureText({ amountOf, noteOf }: ShownFigure, figures: Figures): string {
  const amount = formatAmount(amountOf(figures));
  return noteOf ? `${amount}, ${noteOf(figures)}` : amount;
}

export function countText(count: bigint): string {
  return count.toLocaleString('en-GB');
}
