import { formatAmount } from './money.ts';

/** Text, an amount in bututs, or nothing. */
export type CsvCell = string | bigint | null;

// A spreadsheet reads a cell that begins with one of these as a formula, also in their full-width forms; some skip leading
// white space.
const beginsFormula = /^[\s\p{Cc}\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;
// A spreadsheet of a country whose separator is not the comma sees no quotes in the middle of its cells: for it, what follows one of
// these is the next cell or line.
const nextCellBeginsFormula = /([;\t\r\n])(?=[[\s\p{Cc}\u200b\ufeff]--[\t\r\n]]*[=+\-@\uff1d\uff0b\uff0d\uff20])/gv;

/**
 * A table as RFC 4180 says, safe to open in a spreadsheet: a quote in front of what looks like a formula makes it text, also where
 * the spreadsheet expects another separator. Amounts are plain decimals and stay numbers, also below zero.
 */
export function toCsv(heading: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return csvRows([heading, ...rows]);
}

/** Rows of such a table, for one that is sent in parts. */
export function csvRows(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'bigint') return formatAmount(cell, { style: 'plain' });
  const guarded = cell.replaceAll(nextCellBeginsFormula, "$1'");
  const safe = beginsFormula.test(cell) ? `'${guarded}` : guarded;
  return /[",;\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
