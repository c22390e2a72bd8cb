import type { SearchFilter } from '../../api/list-filter.ts';
import { readAmount } from '../../pages/collect/read-amount.ts';

const lengthMax = 100;

/** What was typed into a list's search field, and the amount that it may be. */
export function typedSearch({ term: typed = '' }: Readonly<Record<string, string>>): SearchFilter {
  const term = typed.trim().slice(0, lengthMax);
  if (term === '') return {};
  const amount = readAmount(term);
  return { term, amountMinor: 'amountMinor' in amount ? amount.amountMinor : null };
}
