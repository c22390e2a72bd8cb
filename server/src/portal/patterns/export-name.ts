import type { PortalVisit } from './page-route.ts';

/** `kairaba-books_test_balance_2026-11-01_2026-11-30.csv`: a file that says whose it is, of which environment and time. */
export function exportName(
  { fileHead }: Pick<PortalVisit, 'fileHead'>,
  what: string,
  days: readonly string[],
  extension: 'csv' | 'json' = 'csv',
): string {
  const parts = [...fileHead, what, ...days].map(slugOf);
  return `${parts.filter((part) => part !== '').join('_')}.${extension}`;
}

const partLengthMax = 60;

function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, partLengthMax);
}
