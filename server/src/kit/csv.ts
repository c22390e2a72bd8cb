import { formatAmount } from './money.ts';

/** Text, an amount in bututs, or nothing. */
export type CsvCell = string | bigint | null;

// A spreadsheet takes a cell that begins with one of these for a formula, also in their wide forms, and some look past
// white space at the beginning.
const beginsFormula = /^[\s\p{Cc}\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/**
 * A table by RFC 4180, safe to open in a spreadsheet: text that would be taken for a formula is led by a quote, which
 * makes it text. Amounts are plain decimals and stay numbers, also below zero.
 */
export function toCsv(heading: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [heading, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'bigint') return formatAmount(cell, { style: 'plain' });
  const safe = beginsFormula.test(cell) ? `'${cell}` : cell;
  // A separator of another country's spreadsheets too: within quotes none of them parts a cell.
  return /[",;\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
