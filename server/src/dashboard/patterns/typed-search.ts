import type { SearchFilter } from '../../api/search-request.ts';
import { readTypedSearch } from '../../api/typed-search.ts';

/** The search field of a list. */
export function typedSearch({ term = '' }: Readonly<Record<string, string>>): SearchFilter {
  return term.trim() === '' ? {} : { typed: readTypedSearch(term) };
}
