import type { FastifyError } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { AppError } from '../api/app-error.ts';
import type { BoundRoute, Caller, CsvFile, FileResponse } from '../api/route.ts';
import { createSchemaCheck, type SchemaCheck } from '../api/schema-check.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { ErrorBody } from './error-responses.ts';
import { coerceQuery, defaultBody, noParameters } from './read-request.ts';
import { findKey } from './queries.ts';
import { addressOf, inQueue, runRoute, type RunContext } from './run-route.ts';
import { validationError } from './validation-error.ts';

/** A call of one of the API's routes by our own pages. Who calls has been checked. */
export interface ApiCall {
  caller: Caller;
  requestId: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  /** Of a POST: a form's own id, so that a form that was sent twice acts once. */
  idempotencyKey?: string;
  /** The key is used up by what succeeds, not by a refusal. */
  forgetsRefusals?: boolean | undefined;
  /** Runs in the transaction of a writing route, after it and not for a replay; gets the parsed response. */
  alsoWrite?: (tx: Transaction, response: unknown) => void;
}

/** One page of a list, as the API returns it. */
export interface ListPage<Row> {
  data: Row[];
  meta: { total: number; total_is_capped?: boolean; limit: number; offset: number; next_cursor: string | null };
}

/**
 * The API's routes for our own pages: the same validation, queues, idempotency and refusals as over HTTP, without a key. The
 * `schema` names the type of the response. Every call throws AppError as the route documents it.
 */
export interface InProcessApi {
  call<Schema extends TSchema>(operationId: string, schema: Schema, call: ApiCall): Promise<Static<Schema>>;
  /** Whether a call with this idempotency key has acted already, so that calling again returns what it returned. */
  hasActed(operationId: string, call: Pick<ApiCall, 'caller' | 'params' | 'idempotencyKey'>): Promise<boolean>;
  /** `schema` is that of one record. */
  list<Schema extends TSchema>(operationId: string, schema: Schema, call: ApiCall): Promise<ListPage<Static<Schema>>>;
  file(operationId: string, call: ApiCall): Promise<FileResponse>;
  /** The table of a route that offers one. */
  csv(operationId: string, call: ApiCall): Promise<CsvFile>;
  /** The routes that write, with the line of the reference that says what each does. */
  writing: readonly { operationId: string; summary: string }[];
}

interface CheckedRoute {
  route: BoundRoute;
  checks: Partial<Record<'params' | 'querystring' | 'body', SchemaCheck>>;
}

export function createInProcessApi(context: RunContext, routes: readonly BoundRoute[]): InProcessApi {
  const byOperation = new Map<string, CheckedRoute>(
    routes.map((route) => [route.operationId, { route, checks: checksOf(route) }]),
  );
  const find = (operationId: string): CheckedRoute => {
    const found = byOperation.get(operationId);
    assert(found, `there is no API route ${operationId}`);
    return found;
  };
  const run = async (operationId: string, call: ApiCall): Promise<unknown> => {
    const { route, checks } = find(operationId);
    assert(route.kind !== 'file', `${operationId} returns a file`);
    const input = checkedInput(route, checks, call);
    const { alsoWrite } = call;
    const response = await runRoute(context, route, {
      requestId: call.requestId,
      input,
      sentBody: input.body,
      idempotencyKey: call.idempotencyKey ?? null,
      forgetsRefusals: call.forgetsRefusals,
      ...(alsoWrite && { alsoWrite: (tx, text) => alsoWrite(tx, JSON.parse(text)) }),
    });
    const body: unknown = JSON.parse(response.body);
    if (response.statusCode < 400) return body;
    const { code, message, errors } = body as ErrorBody;
    throw new AppError(code as AppError['code'], message, errors && { fields: errors });
  };
  const writing = routes.filter(({ kind }) => kind === 'write');
  return {
    writing: writing.map(({ operationId, summary }) => ({ operationId, summary })),
    async call(operationId, schema, call) {
      const { route } = find(operationId);
      assert(route.kind !== 'file' && route.response === schema, `${operationId} returns something else`);
      return (await run(operationId, call)) as Static<typeof schema>;
    },
    async hasActed(operationId, { caller, params = {}, idempotencyKey: key = '' }) {
      const path = addressOf(find(operationId).route, params);
      const use = await findKey(context.db, { merchantId: caller.merchantId, path, key });
      return use !== undefined && use.statusCode !== null && use.statusCode < 400n;
    },
    list: async (operationId, _schema, call) => (await run(operationId, call)) as ListPage<never>,
    async file(operationId, call) {
      const { route, checks } = find(operationId);
      assert(route.kind === 'file', `${operationId} returns no file`);
      return route.handle(route.context, checkedInput(route, checks, call));
    },
    async csv(operationId, call) {
      const { route, checks } = find(operationId);
      assert(route.kind === 'read' && route.csv, `${operationId} offers no table`);
      const { csv } = route;
      const input = checkedInput(route, checks, call);
      return inQueue(context, route, call.caller.merchantId, () => csv(route.context, input));
    },
  };
}

function checksOf({ params, query, body }: BoundRoute): CheckedRoute['checks'] {
  return {
    ...(params && { params: createSchemaCheck(params) }),
    querystring: createSchemaCheck(query ?? noParameters),
    ...(body && { body: createSchemaCheck(body) }),
  };
}

function checkedInput(route: BoundRoute, checks: CheckedRoute['checks'], call: ApiCall) {
  const query = Object.fromEntries(Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined));
  coerceQuery(query, route.query);
  const body = route.body === undefined ? undefined : (call.body ?? defaultBody(route));
  const input = { params: call.params ?? {}, query, body };
  const parts = { params: input.params, querystring: query, body };
  for (const [validationContext, check] of Object.entries(checks) as [keyof typeof parts, SchemaCheck][]) {
    if (check(parts[validationContext])) continue;
    throw validationError({ validation: check.errors, validationContext } as FastifyError);
  }
  return { caller: call.caller, ...input };
}
