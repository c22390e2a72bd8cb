import { formatAmount } from './money.ts';

/** Text, an amount in bututs, or nothing. */
export type CsvCell = string | bigint | null;

// A spreadsheet reads a cell that begins with one of these as a formula, also in their full-width forms; some skip leading
// white space.
const beginsFormula = /^[\s\p{Cc}\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/**
 * A table as RFC 4180 says, safe to open in a spreadsheet: a quote in front of a text that looks like a formula makes it
 * text. Amounts are plain decimals and stay numbers, also below zero.
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
  const safe = beginsFormula.test(cell) ? `'${cell}` : cell;
  // Quoted for semicolons and tabs too, which spreadsheets of some countries take for separators.
  return /[",;\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
