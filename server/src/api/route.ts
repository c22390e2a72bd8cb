import Type, { type Static, type TSchema } from 'typebox';
import type { Transaction } from '../kit/db.ts';
import type { ErrorCode } from './error-codes.ts';
import type { KeyScope } from './key-scope.ts';
import { idType } from './wire-types.ts';

/** The merchant who sent the request. Every statement of a handler carries its id. */
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

/** What a merchant's requests queue for, each merchant's separately. */
export type MerchantQueue = 'balance' | 'history' | 'payouts';

interface RouteBase {
  /** With `:id` where the route is about one record; a path has no other parameter. */
  path: string;
  operationId: string;
  tag: string;
  /** One line for the reference. */
  summary: string;
  description?: string;
  /** True where only clients of the inherited interface need it (docs/adr/0017-inherited-interface.md). */
  deprecated?: boolean;
  query?: TSchema;
  body?: TSchema;
  /** Codes that this route answers beside those of every route, and beside `not_found`, which every route with `:id` has. */
  errors?: readonly ErrorCode[];
  /**
   * True where a repetition must never act twice: the header is required, and the key stands for what it made forever. Such a
   * route has `replay`.
   */
  idempotencyKeyRequired?: boolean;
  /**
   * The kind of record that it changes, where an API key's use of it stands in the audit log: it decides who gets money, or who
   * hears of it.
   */
  auditedAs?: 'sub_account' | 'webhook_endpoint';
  /**
   * For requests that would hold connections for long: only a few of a merchant's run at once, and the others wait without a
   * connection. Those that spend lock the merchant's `balance`, and so wait for each other; those that read a `history` read
   * all of it, however little they show. Those that add to its `payouts` wait only while these are late (kit/pace.ts).
   */
  merchantQueue?: MerchantQueue;
}

/** The response of a JSON route. */
interface JsonRouteResponse {
  response: TSchema;
  /** True where a creating route may answer 200 with an existing record, by `ExistingRecord`. */
  canReturnExisting?: boolean;
}

type Value<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

const idParameters = Type.Object({ id: idType('The id.') });

type PathParams<Path extends string> = Path extends `${string}/:id${string}` ? Static<typeof idParameters> : undefined;

interface Schemas<Path, Query, Body> {
  path: Path;
  query?: Query;
  body?: Body;
}

type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface ReadHandler<Context> extends JsonRouteResponse {
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<unknown>;
  /** The same as a table, for clients that accept `text/csv`. */
  csv?(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<CsvFile>;
}

/** A table to open in a spreadsheet. */
export interface CsvFile {
  /** The file name: letters, digits, hyphens and dots. */
  name: string;
  text: string;
}

interface FileHandler<Context> {
  /** The possible types of the file: `image/png`. */
  contentTypes: readonly string[];
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>): Promise<FileResponse>;
}

/** A picture or a document. */
export interface FileResponse {
  /** The file name: letters, digits, hyphens and dots. */
  name: string;
  contentType: string;
  bytes: Uint8Array;
}

/** What a route requires of the key; a route that only reads requires `read`. */
interface Scoped {
  scope: KeyScope;
}

interface WriteHandler<Context> extends JsonRouteResponse {
  handle(context: Context, request: ApiRequest<unknown, unknown, unknown>, tx: Transaction): Promise<unknown>;
  sharesCommit?(body: unknown, caller: Caller): boolean;
  replay?: Replay<Context>;
}

/** What a key's first request made, as it is now: the response to a repetition when the stored response is gone. */
type Replay<Context> = (
  context: Context,
  request: ApiRequest<unknown, unknown, unknown>,
  subjectId: string,
) => Promise<unknown>;

/**
 * A route as the server registers it. Its input is checked against its schemas, so the types of the parts are erased here.
 */
export type ApiRoute<Context> = RouteBase &
  Scoped & { params?: TSchema } & (
    | ({ method: 'GET'; kind: 'read'; status: 200 } & ReadHandler<Context>)
    | ({ method: 'GET'; kind: 'file' } & FileHandler<Context>)
    | ({ method: WriteMethod; kind: 'write'; status: 200 | 201 } & WriteHandler<Context>)
  );

/** What a creating route returns for a record that existed already: 200 instead of 201. */
export class ExistingRecord {
  readonly record: unknown;

  constructor(record: unknown) {
    this.record = record;
  }
}

/** A response that is JSON text already, and is sent as it is instead of being parsed and serialized again. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A route that only reads. */
export function readRoute<Context, Path extends string, Query = undefined>(
  route: RouteBase &
    JsonRouteResponse &
    Schemas<Path, Query, undefined> & {
      handle(context: Context, request: ApiRequest<PathParams<Path>, Value<Query>, undefined>): Promise<unknown>;
      csv?(context: Context, request: ApiRequest<PathParams<Path>, Value<Query>, undefined>): Promise<CsvFile>;
    },
): ApiRoute<Context> {
  const read = { method: 'GET', kind: 'read', scope: 'read', status: 200 } as const;
  return { ...(route as RouteBase & ReadHandler<Context>), ...paramsOf(route), ...read };
}

/** A route that only reads, and responds with a file instead of JSON. */
export function fileRoute<Context, Path extends string, Query = undefined>(
  route: RouteBase &
    Pick<FileHandler<Context>, 'contentTypes'> &
    Schemas<Path, Query, undefined> & {
      handle(context: Context, request: ApiRequest<PathParams<Path>, Value<Query>, undefined>): Promise<FileResponse>;
    },
): ApiRoute<Context> {
  const file = { method: 'GET', kind: 'file', scope: 'read' } as const;
  return { ...(route as RouteBase & FileHandler<Context>), ...paramsOf(route), ...file };
}

/**
 * A route that may change something. Its handler runs in one transaction, in which the idempotency key and the stored response
 * are written too; it returns the body.
 */
export function writeRoute<Context, Path extends string, Query = undefined, Body = undefined>(
  method: WriteMethod,
  route: RouteBase &
    Scoped &
    JsonRouteResponse &
    Schemas<Path, Query, Body> & {
      /** Where something is created; 200 for everything else. */
      status?: 201;
      handle(
        context: Context,
        request: ApiRequest<PathParams<Path>, Value<Query>, Value<Body>>,
        tx: Transaction,
      ): Promise<unknown>;
      /**
       * True where the transaction is short and locks nothing that other merchants use: requests of one merchant that arrive at the
       * same time then share a commit (docs/adr/0022-shared-commits.md).
       */
      sharesCommit?(body: Value<Body>, caller: Caller): boolean;
      replay?: Replay<Context>;
    },
): Extract<ApiRoute<Context>, { kind: 'write' }> {
  const { status = 200 } = route;
  return {
    ...(route as RouteBase & Scoped & WriteHandler<Context>),
    ...paramsOf(route),
    method,
    kind: 'write',
    status,
  };
}

function paramsOf({ path }: RouteBase): { params?: TSchema } {
  return path.includes('/:id') ? { params: idParameters } : {};
}

/** A route with its context, ready to be called. */
export type BoundRoute = ApiRoute<unknown> & { context: unknown };

export function bindRoutes<Context>(routes: readonly ApiRoute<Context>[], context: Context): BoundRoute[] {
  return routes.map((route) => ({ ...(route as ApiRoute<unknown>), context }));
}
