import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { shownTime, stateMark, twoLines, type StateMark } from './texts.ts';

/** What a row is called, and its time, which a phone shows below that. */
export function nameAndTime<Row>(header: string, nameOf: (row: Row) => Html | string, timeOf: (row: Row) => Date) {
  const timeCell = (row: Row, { now }: { now: Date }): Html => shownTime(timeOf(row), now);
  return [
    { header, isMain: true, cell: (row: Row, visit: { now: Date }) => twoLines(nameOf(row), timeCell(row, visit)) },
    { header: 'Time', cell: timeCell },
  ];
}

/** A row's state and its amount; a phone shows the state below the amount. */
export function stateAndAmount<Row>(header: string, stateOf: (row: Row) => StateMark, minorOf: (row: Row) => bigint) {
  const stateCell = (row: Row): Html => stateMark(stateOf(row));
  const amountCell = (row: Row): Html => twoLines(formatAmount(minorOf(row)), stateCell(row));
  return [
    { header: 'State', cell: stateCell },
    { header, isMain: true, isNumber: true, cell: amountCell },
  ];
}
