import type { Visit } from '../visit.ts';

const nameLengthMax = 60;

/** `kairaba-books_test_balance_2026-11-01_2026-11-30.csv`: a file that says whose it is, of which environment and time. */
export function exportName({ merchant, testMode }: Visit, what: string, days: readonly string[]): string {
  // Of a name in another script nothing is left.
  const name = slugOf(merchant.name).slice(0, nameLengthMax) || merchant.shortId;
  return `${[name, testMode ? 'test' : 'live', slugOf(what), ...days].join('_')}.csv`;
}

function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
