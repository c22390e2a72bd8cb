import type { Static, TSchema } from 'typebox';
import type { Transaction } from './db.ts';
import type { ErrorCode } from './error-codes.ts';

/** Who calls: one business in one environment. Every statement a handler runs carries its id. */
export interface Caller {
  merchantId: string;
  testMode: boolean;
}

export interface ApiRequest<Params, Query, Body> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
}

/** What a merchant's requests queue up for, each for itself. */
export type MerchantQueue = 'balance' | 'history';

interface RouteBase {
  path: string;
  operationId: string;
  tag: string;
  /** One line for the reference. */
  summary: string;
  description?: string;
  /** True where only clients of the inherited interface need it (docs/adr/0017-inherited-interface.md). */
  deprecated?: boolean;
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** What this route refuses beyond what every route may answer. */
  errors?: readonly ErrorCode[];
  /**
   * True where the first request must be told from its repetition: the header is refused when it is missing, and the key
   * stands for what it made for ever. Such a route has `recall`.
   */
  idempotencyKeyRequired?: boolean;
  /**
   * Where a merchant's requests would hold connections for long: only a few of them run at once, and the others wait
   * without a connection. Those that spend lock what it has one of, its `balance`, and so wait for each other; those that
   * read a `history` read all of it, however little is shown.
   */
  merchantQueue?: MerchantQueue;
}

/** What a route answers that speaks JSON. */
interface JsonRouteResponse {
  /** 201 where something was made, 200 for everything else. */
  status: 200 | 201;
  response: TSchema;
  /** True where a creating route may make nothing and answer 200 with what was there, by `AlreadyThere`. */
  canReturnExisting?: boolean;
}

type Value<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

interface Schemas<Params, Query, Body> {
  params?: Params;
  query?: Query;
  body?: Body;
}

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface ReadHandler<Context> extends JsonRouteResponse {
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<unknown>;
  /** The same as a table, for who accepts `text/csv` rather than JSON. */
  csv?(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<CsvFile>;
}

/** A table to open in a spreadsheet. */
export interface CsvFile {
  /** What it is saved as: letters, digits, hyphens and dots. */
  name: string;
  text: string;
}

interface FileHandler<Context> {
  /** What the file may be: `image/png`. */
  contentTypes: readonly string[];
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<FileResponse>;
}

/** A picture or a document to save. */
export interface FileResponse {
  /** What it is saved as: letters, digits, hyphens and dots. */
  name: string;
  contentType: string;
  bytes: Uint8Array;
}

interface WriteHandler<Context> extends JsonRouteResponse {
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>, tx: Transaction): Promise<unknown>;
  replay?: Replay<Context>;
}

/** What a key's first request made, as it is now: the answer to a repetition whose own answer is no longer kept. */
type Replay<Context> = (
  context: Context,
  request: ApiRequest<unknown, unknown, unknown>,
  subjectId: string,
) => Promise<unknown>;

/**
 * A route as the server registers it. What it is handed was checked against its schemas, which is why the types of its
 * parts are forgotten here.
 */
export type ApiRoute<Context> = RouteBase &
  (
    | ({ method: 'GET'; kind: 'read' } & ReadHandler<Context>)
    | ({ method: 'GET'; kind: 'file' } & FileHandler<Context>)
    | ({ method: WriteMethod; kind: 'write' } & WriteHandler<Context>)
  );

/** What a creating route answers where nothing was made, because it was there: 200 instead of 201. */
export class ExistingRecord {
  readonly record: unknown;

  constructor(record: unknown) {
    this.record = record;
  }
}

/** An answer that is JSON already: what is stored as text goes out as it is, instead of being read and written again. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A route that only reads. */
export function readRoute<Context, Params = undefined, Query = undefined>(
  route: RouteBase &
    JsonRouteResponse &
    Schemas<Params, Query, undefined> & {
      handle(context: Context, request: ApiRequest<Value<Params>, Value<Query>, undefined>): Promise<unknown>;
      csv?(context: Context, request: ApiRequest<Value<Params>, Value<Query>, undefined>): Promise<CsvFile>;
    },
): ApiRoute<Context> {
  return { ...(route as RouteBase & ReadHandler<Context>), method: 'GET', kind: 'read' };
}

/** A route that only reads, and answers a file instead of JSON. */
export function fileRoute<Context, Params = undefined, Query = undefined>(
  route: RouteBase &
    Pick<FileHandler<Context>, 'contentTypes'> &
    Schemas<Params, Query, undefined> & {
      handle(context: Context, request: ApiRequest<Value<Params>, Value<Query>, undefined>): Promise<FileResponse>;
    },
): ApiRoute<Context> {
  return { ...(route as RouteBase & FileHandler<Context>), method: 'GET', kind: 'file' };
}

/**
 * A route that may change something. Its handler is one transaction, opened and committed for it, in which the
 * idempotency key and the stored answer are written too; what it answers is the body.
 */
export function writeRoute<Context, Params = undefined, Query = undefined, Body = undefined>(
  method: WriteMethod,
  route: RouteBase &
    JsonRouteResponse &
    Schemas<Params, Query, Body> & {
      handle(
        context: Context,
        request: ApiRequest<Value<Params>, Value<Query>, Value<Body>>,
        tx: Transaction,
      ): Promise<unknown>;
      replay?: Replay<Context>;
    },
): Extract<ApiRoute<Context>, { kind: 'write' }> {
  return { ...(route as RouteBase & WriteHandler<Context>), method, kind: 'write' };
}

/** A route with its context, ready to be called. */
export type BoundRoute = ApiRoute<unknown> & { context: unknown };

export function bindRoutes<Context>(routes: readonly ApiRoute<Context>[], context: Context): BoundRoute[] {
  return routes.map((route) => ({ ...(route as ApiRoute<unknown>), context }));
}
