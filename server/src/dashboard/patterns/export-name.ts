import type { Visit } from '../visit.ts';

/** `kairaba-books_test_balance_2026-11-01_2026-11-30.csv`: a file that says whose it is, of which environment and time. */
export function exportName({ merchant, testMode }: Visit, what: string, days: readonly string[]): string {
  const parts = [merchant.name, testMode ? 'test' : 'live', what, ...days].map(slugOf);
  return `${parts.filter((part) => part !== '').join('_')}.csv`;
}

function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
