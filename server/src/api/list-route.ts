import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import type { List } from './list-reader.ts';
import {
  listCursor,
  listPageRequest,
  pageParameters,
  searchParameters,
  searchTerm,
  totalMax,
  type PageQuery,
  type PageRequest,
} from './pagination.ts';
import { JsonText, readRoute, type ApiRequest, type ApiRoute } from './route.ts';

/** What differs between the routes of lists. */
interface ListRoute<Context, Filters extends TProperties> {
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  errors?: readonly ErrorCode[];
  /** Takes `term` and its alias `search`; `read` gets the text as `term`. */
  isSearchable?: boolean;
  /** Its own query parameters. */
  filters?: Filters;
  /** The schema of one record. */
  item: TSchema;
  /** Reads the requested page, in the form of the wire. */
  read(context: Context, request: ListRequest<Filters>): Promise<List<unknown>>;
  /** True where `read` returns each record as JSON text. */
  recordsAreText?: boolean;
}

interface ListRequest<Filters extends TProperties> extends Omit<
  ApiRequest<undefined, Static<TObject<Filters>>, undefined>,
  'params' | 'body'
> {
  page: PageRequest;
  term: string | undefined;
}

export function listRoute<Context, Filters extends TProperties = Record<never, never>>(
  route: ListRoute<Context, Filters>,
): ApiRoute<Context> {
  const { isSearchable = false, filters, item, read, recordsAreText = false, ...rest } = route;
  const parameters = { ...pageParameters, cursor: listCursor, ...(isSearchable ? searchParameters : {}), ...filters };
  return readRoute({
    ...rest,
    query: Type.Object(parameters as TProperties, { additionalProperties: false }),
    response: pageSchema(item),
    async handle(context: Context, { caller, query }) {
      const page = listPageRequest(query as PageQuery);
      const term = searchTerm(query as { term?: string; search?: string });
      const list = await read(context, { caller, query: query as Static<TObject<Filters>>, page, term });
      const meta = metaOf(page, list);
      if (!recordsAreText) return { data: list.rows, meta };
      return new JsonText(`{"data":[${list.rows.join(',')}],"meta":${JSON.stringify(meta)}}`);
    },
  });
}

function pageSchema(item: TSchema) {
  return Type.Object({
    data: Type.Array(item),
    meta: Type.Object({
      total: Type.Integer({ description: 'Exact up to 10,000.' }),
      total_is_capped: Type.Optional(Type.Boolean({ description: 'True if there are more than 10,000.' })),
      limit: Type.Integer(),
      offset: Type.Integer(),
      next_cursor: Type.Union([Type.String(), Type.Null()]),
    }),
  });
}

function metaOf(page: PageRequest, { total, nextCursor }: List<unknown>): object {
  return {
    total: Math.min(total, totalMax),
    ...(total > totalMax ? { total_is_capped: true } : {}),
    limit: page.limit,
    offset: page.offset,
    next_cursor: nextCursor,
  };
}
