import Type from 'typebox';
import { fieldError } from './app-error.ts';
import { isUuid } from '../kit/ids.ts';

// docs/api.md, "Lists": a page is at most 100 rows, offsets and exact totals end at 10,000.
export const limitMax = 100;
const limitDefault = 10;
export const offsetMax = 10_000;
export const totalMax = 10_000;
/** A typed text that no index finds is searched in so many of the newest records: what a count may cost. */
export const searchedRowsMax = 10_000;
const termLengthMax = 100;

/** The query parameters that every list takes. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault, description: 'Rows per page.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: offsetMax, description: 'Rows to skip; for deep pages use `cursor`.' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 64, description: '`meta.next_cursor` of the page before.' })),
};

/** The cursor of lists, which can be paged back too. */
export const listCursor = Type.Optional(
  Type.String({
    maxLength: 64,
    description:
      '`meta.next_cursor` of the page before; or `newer:` and the id of the first record of a page, for the page in front of it.',
  }),
);

/** The parameters of lists that can be searched. */
export const searchParameters = {
  term: Type.Optional(
    Type.String({ maxLength: termLengthMax, description: 'Text to search for in names, numbers and references.' }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: termLengthMax, description: 'The same as `term`.', deprecated: true }),
  ),
};

export interface PageQuery {
  limit?: number;
  offset?: number;
  cursor?: string;
}

export interface PageRequest {
  limit: number;
  offset: number;
  /** Continue after this id. */
  before: string | null;
  /** The page that ends in front of this id. */
  inFrontOf?: string | null;
}

export function pageRequest(query: PageQuery): PageRequest {
  const before = query.cursor ?? null;
  if (before !== null && !isUuid(before)) {
    throw fieldError('invalid_request', 'cursor', 'This is not a cursor. Take meta.next_cursor of the page before.');
  }
  if (before !== null && (query.offset ?? 0) > 0) {
    throw fieldError('invalid_request', 'offset', 'Send cursor or offset, not both: a cursor says where to go on.');
  }
  return { limit: query.limit ?? limitDefault, offset: query.offset ?? 0, before };
}

/** The page of a list that can be paged back too. */
export function listPageRequest(query: PageQuery): PageRequest {
  const position = query.cursor === undefined ? undefined : cursorPosition(query.cursor);
  if (!position?.inFrontOf) return pageRequest(query);
  return { ...pageRequest({ ...query, cursor: position.inFrontOf }), ...position };
}

const newerPrefix = 'newer:';

/** The cursor of the page in front of the one that begins with this record. */
export function newerCursor(id: string): string {
  return `${newerPrefix}${id}`;
}

/** Undefined for what is no cursor of a list. */
export function cursorPosition(cursor: string): Pick<PageRequest, 'before' | 'inFrontOf'> | undefined {
  const isNewer = cursor.startsWith(newerPrefix);
  const id = isNewer ? cursor.slice(newerPrefix.length) : cursor;
  if (!isUuid(id)) return undefined;
  return isNewer ? { before: null, inFrontOf: id } : { before: id };
}

/** The text to search for; an empty one is no filter. Throws AppError where the two names disagree. */
export function searchTerm(query: { term?: string; search?: string }): string | undefined {
  if (query.term !== undefined && query.search !== undefined && query.term !== query.search) {
    throw fieldError('invalid_request', 'search', 'Send term or search: they mean the same, and these differ.');
  }
  const term = (query.term ?? query.search ?? '').trim();
  return term === '' ? undefined : term;
}
