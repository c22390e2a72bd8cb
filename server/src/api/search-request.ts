import { columnFilter, termFilter, type ListFilter } from './list-filter.ts';
import type { ListConditions } from './list-reader.ts';
import { searchedRowsMax, totalMax } from './pagination.ts';
import type { TypedSearch } from './typed-search.ts';

/** A substring, as the API searches, or what a person typed. Both undefined are no filter. */
export interface SearchFilter {
  term?: string | undefined;
  typed?: TypedSearch | undefined;
}

interface SearchedRows {
  /** `FROM … WHERE merchant_id = $1`, as the list reads its rows. */
  listed: string;
  id: string;
}

/** Where the parts of a typed search are found; a list without numbers finds one as a text. */
interface SearchedList extends SearchedRows {
  texts: readonly string[];
  amount: string;
  number?: string;
  /** Ours, found in full by its index. */
  reference?: string;
}

interface OtherFilters {
  /** Those that narrow the newest rows: an index finds them in the order of the list. */
  newestOf: readonly ListFilter[];
  others: readonly ListFilter[];
}

/** A search as the API promises it reads all rows; what a person typed is found within half a second in any list. */
export function searchRequest(
  { term, typed }: SearchFilter,
  list: SearchedList,
  filters: OtherFilters,
): ListConditions {
  const all = [...filters.newestOf, ...filters.others];
  if (term !== undefined) return { filters: [...all, termFilter(term, list.texts)], isSearch: true };
  if (typed === undefined) return { filters: all };
  if (typed.kind === 'id') return { filters: [...all, ...columnFilter('id', `${list.id} =`, typed.id)] };
  if (typed.kind === 'amount') {
    return { filters: [...all, ...columnFilter('amount', `${list.amount} =`, typed.amountMinor)] };
  }
  if (typed.kind === 'number') {
    if (list.number === undefined) {
      return newestRequest({ indexed: [], inNewest: termFilter(typed.canonical, list.texts) }, list, filters);
    }
    return { filters: [...all, ...columnFilter('number', `${list.number} =`, typed.canonical)] };
  }
  const indexed = [
    ...(typed.amountMinor === null ? [] : columnFilter('amount', `${list.amount} =`, typed.amountMinor)),
    ...(list.reference === undefined ? [] : columnFilter('reference', `${list.reference} =`, typed.text)),
  ];
  return newestRequest({ indexed, inNewest: termFilter(typed.text, list.texts) }, list, filters);
}

/** How a text is found. */
export interface SearchedText {
  /** Each by an index, at any age. */
  indexed: readonly ListFilter[];
  /** In the newest rows only. */
  inNewest: ListFilter;
}

/**
 * Rows found by one of the indexes, or among the newest `searchedRowsMax` rows that `newestOf` leaves. Whatever the filters, a
 * search reads no more rows than that: the others are looked at in each. The ids are an array, so that the planner reads the rows
 * by their primary key, not the table.
 */
export function newestRequest(
  { indexed, inNewest }: SearchedText,
  { listed, id }: SearchedRows,
  { newestOf, others }: OtherFilters,
): ListConditions {
  const byIndex = indexed.map((condition) => {
    const conditions = [...newestOf, ...others, condition];
    return {
      conditions,
      text: (next: () => string) =>
        `(SELECT ${id} ${listed} ${and(conditions, next)} ORDER BY ${id} DESC LIMIT ${totalMax + 1})`,
    };
  });
  const newest = {
    conditions: [...others, inNewest, ...newestOf],
    text: (next: () => string) => `(SELECT id FROM (
        SELECT ${id} AS id, (true ${and([...others, inNewest], next)}) AS is_found ${listed} ${and(newestOf, next)}
        ORDER BY ${id} DESC LIMIT ${searchedRowsMax}
      ) AS newest WHERE is_found)`,
  };
  const parts = [...byIndex, newest];
  const filter: ListFilter = {
    name: `newest_${parts.flatMap(({ conditions }) => conditions.map(({ name }) => name)).join('_')}`,
    text: (next) => `${id} = ANY (ARRAY(${parts.map(({ text }) => text(next)).join(' UNION ALL ')}))`,
    values: parts.flatMap(({ conditions }) => conditions.flatMap(({ values }) => values)),
  };
  return { filters: [filter], newestOf };
}

function and(conditions: readonly ListFilter[], next: () => string): string {
  return conditions.map(({ text }) => `AND ${text(next)}`).join(' ');
}
