import type { Queryable, Statement } from '../kit/db.ts';
import { limitEachKey, type KeyedLimiter } from '../kit/keyed-limiter.ts';
import { columnFilter, listClause, type ListFilter } from './list-filter.ts';
import { searchedRowsMax, totalMax, type PageRequest } from './pagination.ts';

/** A list of a merchant's records, as SQL to which filters and a page are appended. Newest first by default. */
export interface ListSource<Row extends { id: string }, Stored extends object = Row> {
  /** The prefix of its statements' names: `refunds`. */
  name: string;
  /** `SELECT … FROM … WHERE merchant_id = $1`. */
  select: string;
  /** The column of the id, `id` unless tables are joined. Ids of version 7 count up with time, so it is the order. */
  idColumn?: string;
  oldestFirst?: boolean;
  /** True where the planner would otherwise count rare rows by reading the whole table. */
  countsInOrder?: boolean;
  /** True where no record is ever deleted: a total beyond `totalMax` is not counted again. */
  onlyGrows?: boolean;
  /** An amount in bututs, from the columns of `select` as `counted`: the list comes with its sum. */
  sum?: string;
  toRow?: (stored: Stored) => Row;
}

export interface ListRequest extends ListConditions {
  merchantId: string;
  page: PageRequest;
}

/** What a list reads. */
export interface ListConditions {
  filters: readonly ListFilter[];
  /** True where it reads all of a merchant's records, which few requests may do at once. */
  isSearch?: boolean;
  /** Where a text is searched in the newest records only: the conditions that narrow those. */
  newestOf?: readonly ListFilter[];
}

/** One page of a list. */
export interface List<Row> {
  rows: Row[];
  /** Exact up to `totalMax`. */
  total: number;
  /** Bututs of all rows, not only of this page; of a source with `sum`, and only where `total` is exact. */
  sumMinor?: bigint;
  /** The id of the last row; null on the last page. */
  nextCursor: string | null;
  /** Whether records come before this page. */
  hasNewer: boolean;
  /** True where older records were not searched. */
  isNewestOnly?: boolean;
}

/** How many rows a list has up to a bound, and what they add up to. */
export interface ListTotals {
  /** One more than the bound where there are more. */
  total: number;
  sumMinor: bigint;
}

/** Reads a page of a merchant's list. Throws AppError `rate_limited` when too many searches are running. */
export function listOf<Row extends { id: string }, Stored extends object, Filter>(
  source: ListSource<Row, Stored>,
  conditionsOf: (filter: Filter) => ListConditions,
) {
  return (lists: ListReader, merchantId: string, page: PageRequest, filter: Filter): Promise<List<Row>> =>
    lists.read(source, { merchantId, page, ...conditionsOf(filter) });
}

/** A list that people read too, as they need it. `sum` is an amount in bututs, from the columns of `select` as `counted`. */
export function summedListOf<Row extends { id: string }, Stored extends object, Filter>(
  source: ListSource<Row, Stored>,
  sum: string,
  conditionsOf: (filter: Filter) => ListConditions,
) {
  const summed = { ...source, name: `${source.name}_summed`, sum };
  const [plainList, summedList] = [listOf(source, conditionsOf), listOf(summed, conditionsOf)];
  return {
    /** As `listOf`. */
    list: (
      lists: ListReader,
      merchantId: string,
      page: PageRequest,
      filter: Filter,
      { withSum = false } = {},
    ): Promise<List<Row>> => (withSum ? summedList : plainList)(lists, merchantId, page, filter),
    /** A page of the same list without its total, for reading it to its end. */
    rows: (lists: ListReader, merchantId: string, page: PageRequest, filter: Filter): Promise<Row[]> =>
      lists.readRows(source, { merchantId, page, ...conditionsOf(filter) }),
    /** How many rows the list has, up to `rowsMax`, and what they add up to. */
    totals: (lists: ListReader, merchantId: string, filter: Filter, rowsMax: number): Promise<ListTotals> =>
      lists.totals(summed, { merchantId, ...conditionsOf(filter) }, rowsMax),
  };
}

/** The page with each row in another form. */
export function mapRows<Row, Mapped>(list: List<Row>, map: (row: Row) => Mapped): List<Mapped> {
  return { ...list, rows: list.rows.map(map) };
}

const longListsMax = 10_000;

/**
 * A search reads every row of its merchant and holds a database connection meanwhile. Searches get a fifth of a process's
 * connections, so that payments always find one; a search without a permit is refused at once.
 */
export function createSearchLimiter(inAll = 4): KeyedLimiter<string> {
  const message = 'Other searches are still running. Send this one again in a second.';
  return limitEachKey({ name: 'searches', inAll, each: 2, refusal: { code: 'rate_limited', message } });
}

export class ListReader {
  readonly #db: Queryable;
  readonly searches: KeyedLimiter<string>;
  /** Lists beyond the exact total: counting 10,000 rows for each page would cost more than the page. */
  readonly #longLists = new Set<string>();

  constructor(db: Queryable, searches = createSearchLimiter()) {
    this.#db = db;
    this.searches = searches;
  }

  /** Throws AppError `rate_limited` when too many searches are running. */
  async read<Row extends { id: string }, Stored extends object>(
    source: ListSource<Row, Stored>,
    request: ListRequest,
  ): Promise<List<Row>> {
    const { isSearch = false, merchantId, newestOf } = request;
    const readRows = () => this.#db.rows<Stored>(pageStatement(source, request));
    const readTotal = () => this.#count(source, request);
    // A search uses one connection at a time; other lists are quick and use two.
    const [stored, { total, sumMinor }] = isSearch
      ? await this.searches.run(merchantId, async () => [await readRows(), await readTotal()] as const)
      : // Promise.all handles both rejections; an unhandled one would end the process.
        await Promise.all([readRows(), readTotal()]);
    const rows = shownRows(source, request.page, stored);
    const sum = source.sum !== undefined && total <= totalMax ? { sumMinor } : {};
    // A list that is known to be long is not counted again.
    const isNewestOnly =
      newestOf !== undefined && (await this.#count(source, { ...request, filters: newestOf })).total > searchedRowsMax;
    return {
      rows,
      total,
      ...sum,
      ...neighbours(request.page, stored.length, rows),
      ...(isNewestOnly && { isNewestOnly }),
    };
  }

  /** A page without the total, for reading a list to its end. */
  async readRows<Row extends { id: string }, Stored extends object>(
    source: ListSource<Row, Stored>,
    request: ListRequest,
  ): Promise<Row[]> {
    const read = () => this.#db.rows<Stored>(pageStatement(source, request));
    return shownRows(source, request.page, await this.#limited(request, read));
  }

  /** Counts and adds up a list of up to `rowsMax` rows. Throws AppError `rate_limited` when too many searches are running. */
  async totals(source: AnySource, request: Omit<ListRequest, 'page'>, rowsMax: number): Promise<ListTotals> {
    const read = () => this.#db.row<{ count: bigint; sum: string | null }>(totalsStatement(source, request, rowsMax));
    const row = await this.#limited(request, read);
    return { total: Number(row?.count ?? 0n), sumMinor: BigInt(row?.sum ?? 0) };
  }

  #limited<Result>({ isSearch = false, merchantId }: Omit<ListRequest, 'page'>, run: () => Promise<Result>) {
    return isSearch ? this.searches.run(merchantId, run) : run();
  }

  async #count(source: AnySource, request: ListRequest): Promise<{ total: number; sumMinor: bigint }> {
    const { merchantId, filters } = request;
    const longList = source.onlyGrows && filters.length === 0 ? `${source.name}:${merchantId}` : undefined;
    if (longList !== undefined && this.#longLists.has(longList)) return { total: totalMax + 1, sumMinor: 0n };
    const row = await this.#db.row<{ count: bigint; sum?: bigint | null }>(countStatement(source, request));
    const total = Number(row?.count ?? 0n);
    if (longList !== undefined && total > totalMax && this.#longLists.size < longListsMax)
      this.#longLists.add(longList);
    return { total, sumMinor: row?.sum ?? 0n };
  }
}

type AnySource = Omit<ListSource<never, never>, 'toRow'>;

/** The rows of the page in the list's order, without the one that was read to know whether another page follows. */
function shownRows<Row extends { id: string }, Stored extends object>(
  { toRow }: ListSource<Row, Stored>,
  { limit, inFrontOf }: PageRequest,
  stored: readonly Stored[],
): Row[] {
  const shown = stored.slice(0, limit);
  // A page in front of another is read from its end.
  const ordered = inFrontOf ? shown.toReversed() : shown;
  return toRow ? ordered.map(toRow) : (ordered as object[] as Row[]);
}

function neighbours(
  { limit, before, inFrontOf }: PageRequest,
  storedCount: number,
  rows: readonly { id: string }[],
): Pick<List<never>, 'nextCursor' | 'hasNewer'> {
  const hasMore = storedCount > limit;
  const last = rows.at(-1)?.id ?? null;
  if (inFrontOf) return { nextCursor: last, hasNewer: hasMore };
  return { nextCursor: hasMore ? last : null, hasNewer: before !== null };
}

/** Reads one row more than the page shows, to know whether another page follows. */
function pageStatement(source: AnySource, { merchantId, filters, page }: ListRequest): Statement {
  const { before, inFrontOf } = page;
  const [further, nearer] = source.oldestFirst ? ['>', '<'] : ['<', '>'];
  const id = idColumnOf(source);
  const clause = listClause([
    ...filters,
    ...columnFilter('before', `${id} ${further}`, before ?? undefined),
    ...columnFilter('in_front_of', `${id} ${nearer}`, inFrontOf ?? undefined),
  ]);
  const order = inFrontOf ? `${id} ${source.oldestFirst ? 'DESC' : 'ASC'}` : orderOf(source);
  return {
    name: `${source.name}_list_${clause.name}`,
    text: `${source.select} ${clause.text}
           ORDER BY ${order} LIMIT $${clause.values.length + 2} OFFSET $${clause.values.length + 3}`,
    values: [merchantId, ...clause.values, page.limit + 1, page.offset],
  };
}

/** Counts at most one row more than `totalMax`. The columns cost nothing: PostgreSQL does not compute unused ones. */
function countStatement(source: AnySource, { merchantId, filters }: ListRequest): Statement {
  const clause = listClause(filters);
  const order = source.countsInOrder ? `ORDER BY ${orderOf(source)}` : '';
  return {
    name: `${source.name}_count_${clause.name}`,
    text: `SELECT count(*) AS count${source.sum === undefined ? '' : `, sum(${source.sum})::bigint AS sum`} FROM (
             ${source.select} ${clause.text} ${order} LIMIT $${clause.values.length + 2}
           ) AS counted`,
    values: [merchantId, ...clause.values, totalMax + 1],
  };
}

/** The sum as text: PostgreSQL adds bigints up as numeric. */
function totalsStatement(
  source: AnySource,
  { merchantId, filters }: Omit<ListRequest, 'page'>,
  rowsMax: number,
): Statement {
  const clause = listClause(filters);
  return {
    name: `${source.name}_totals_${clause.name}`,
    text: `SELECT count(*) AS count, sum(${source.sum ?? '0'})::text AS sum FROM (
             ${source.select} ${clause.text} LIMIT $${clause.values.length + 2}
           ) AS counted`,
    values: [merchantId, ...clause.values, rowsMax + 1],
  };
}

function orderOf(source: AnySource): string {
  return `${idColumnOf(source)} ${source.oldestFirst ? 'ASC' : 'DESC'}`;
}

function idColumnOf({ idColumn = 'id' }: AnySource): string {
  return idColumn;
}
