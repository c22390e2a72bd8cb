import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';
import { apiRoutes } from '../../server/src/app/api-routes.ts';
import { eventBodySchemas } from '../../server/src/app/event-schemas.ts';
import { describeApi } from '../../server/src/http/openapi.ts';
import { createApiClient, type ApiResponse, type ApiClient } from './api-client.ts';

export interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

/** One operation of the document. */
export interface Operation {
  operationId: string;
  method: string;
  /** As in the document: `/v1/payments/{id}`. */
  path: string;
  /** What the key needs. */
  scope: string;
  body: JsonSchema | null;
  isBodyRequired: boolean;
  /** Whether the body may also be wrapped as `{data: …}`. */
  isWrappable: boolean;
  /** The schemas of the query parameters, by name. */
  query: Readonly<Record<string, JsonSchema>>;
  /** By status. */
  responses: ReadonlyMap<number, DocumentedResponse>;
}

interface DocumentedResponse {
  schema: JsonSchema;
  /** The error codes that the document lists for the status. */
  codes: string[];
  /** The media types of a response that is a file. */
  fileTypes?: readonly string[];
  problemOf(body: unknown): string | null;
}

/** What the OpenAPI document promises. */
export interface Contract {
  operations: readonly Operation[];
  /** What is wrong with an event's body, or null. The document must have its kind. */
  eventProblem(body: { event: string }): string | null;
  /** Fails when the response is not in the document, down to an undocumented field. */
  check(request: { method: string; path: string }, response: ApiResponse): void;
}

interface Document {
  components: { schemas?: Record<string, JsonSchema> };
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks: Record<string, { post: Pick<DocumentedOperation, 'requestBody'> }>;
}

interface DocumentedOperation {
  operationId: string;
  security: { secretKey: string[] }[];
  parameters?: { in: string; name: string; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>;
}

const json = 'application/json';

const reference = '#/components/schemas/';

let loaded: Promise<Contract> | undefined;

/** Reads the document once for all test files of a process. */
export function loadContract(): Promise<Contract> {
  loaded ??= readContract();
  return loaded;
}

async function readContract(): Promise<Contract> {
  const { components, paths, webhooks } = (await describeApi(apiRoutes, eventBodySchemas)) as Document;
  const schemas = components.schemas ?? {};
  const resolvedPaths = resolved(paths, schemas);
  const operations = Object.entries(resolvedPaths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(method.toUpperCase(), path, operation)),
  );
  const events = new Map(
    Object.entries(resolved(webhooks, schemas)).map(([kind, { post }]) => {
      const schema = post.requestBody?.content[json]?.schema;
      assert.ok(schema, kind);
      return [kind, documentedResponse(schema, [])] as const;
    }),
  );
  return {
    operations,
    eventProblem: (body) => {
      const documented = events.get(body.event);
      return documented ? documented.problemOf(body) : `the document has no event ${body.event}`;
    },
    check: ({ method, path }, response) => {
      const operation = findOperation(operations, method, path);
      const { fileTypes } = operation?.responses.get(response.status) ?? {};
      checkFrame(response, fileTypes ?? ['application/json; charset=utf-8']);
      if (fileTypes) return;
      if (operation === undefined) {
        const unknownRoute = `${method} ${path} is not in the document, and answers ${response.text}`;
        assert.ok(response.status === 404 || response.status === 405, unknownRoute);
        checkError(operations[0], 401, response);
        return;
      }
      const context = `${operation.operationId} answers ${response.status}: ${response.text.slice(0, 500)}`;
      const documented = operation.responses.get(response.status);
      assert.ok(documented, `the document does not know that ${context}`);
      assert.equal(documented.problemOf(response.body), null, context);
      if (response.status < 400) return;
      assert.ok(documented.codes.includes(String(response.body['code'])), `an undocumented code: ${context}`);
      checkError(operation, response.status, response);
    },
  };
}

/** A client that checks every response against the document. */
export function createContractClient(contract: Contract, url: string, key: string): ApiClient {
  const client = createApiClient(url, key);
  const send: ApiClient['send'] = async (method, path, init) => {
    const response = await client.send(method, path, init);
    contract.check({ method, path }, response);
    return response;
  };
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body, headers = {}) =>
      send('POST', path, {
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { ...(body === undefined ? {} : { 'content-type': json }), ...headers },
      }),
  };
}

function findOperation(operations: readonly Operation[], method: string, path: string): Operation | undefined {
  const { pathname } = new URL(path, 'http://localhost');
  const templates = [...new Set(operations.map((operation) => operation.path))];
  const template =
    templates.find((candidate) => candidate === pathname) ??
    templates.find((candidate) => patternOf(candidate).test(pathname));
  return operations.find((operation) => operation.path === template && operation.method === method);
}

const patterns = new Map<string, RegExp>();

/** The pattern of a path template. Cached: thousands of responses are checked against some sixty. */
function patternOf(template: string): RegExp {
  const pattern = patterns.get(template) ?? new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]*')}$`);
  patterns.set(template, pattern);
  return pattern;
}

/** The headers of every response. */
function checkFrame(response: ApiResponse, contentTypes: readonly string[]): void {
  const contentType = response.headers.get('content-type') ?? 'none';
  assert.ok(contentTypes.includes(contentType), contentType);
  assert.match(response.headers.get('x-request-id') ?? 'none', /^req_[0-9A-Za-z]{20}$/);
}

function checkError(operation: Operation | undefined, documentedStatus: number, response: ApiResponse): void {
  const problem = operation?.responses.get(documentedStatus)?.problemOf(response.body);
  assert.equal(problem, null, response.text);
  const { body, headers, status } = response;
  assert.equal(body['statusCode'], status);
  // A stored refusal is repeated byte for byte, with the id of the request that was refused first.
  if (headers.get('idempotent-replayed') === null) assert.equal(body['request_id'], headers.get('x-request-id'));
  assert.match(String(body['doc_url']), new RegExp(`/errors/${String(body['code'])}$`));
  const isRetryable = status === 429 || status === 503 || body['code'] === 'idempotency_in_progress';
  assert.equal(/^[1-9]\d*$/.test(headers.get('retry-after') ?? ''), isRetryable, `Retry-After of ${response.text}`);
  assert.equal(headers.get('www-authenticate') !== null, status === 401, `WWW-Authenticate of ${response.text}`);
}

function readOperation(method: string, path: string, operation: DocumentedOperation): Operation {
  const responses = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content?.[json]?.schema;
    if (!schema && content) return [Number(status), documentedFile(Object.keys(content))] as const;
    assert.ok(schema, `${operation.operationId} has no schema for ${status}`);
    const codes = [...description.matchAll(/`(\w+)`/g)].map(([, code]) => String(code));
    return [Number(status), documentedResponse(schema, codes)] as const;
  });
  const body = operation.requestBody?.content[json]?.schema;
  return {
    operationId: operation.operationId,
    scope: operation.security.flatMap(({ secretKey }) => secretKey).join(),
    method,
    path,
    body: bareForm(body),
    isBodyRequired: operation.requestBody?.required ?? false,
    isWrappable: body?.anyOf !== undefined,
    query: Object.fromEntries(
      (operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name, schema }) => [name, schema]),
    ),
    responses: new Map(responses),
  };
}

/** The unwrapped form of a body that may be wrapped: its fields are the same. */
function bareForm(body: JsonSchema | undefined): JsonSchema | null {
  const [bare, wrapped] = body?.anyOf ?? [];
  if (bare === undefined) return body ?? null;
  assert.deepEqual(wrapped?.properties, { data: bare }, 'a body is bare or wrapped, nothing else');
  return bare;
}

function documentedFile(fileTypes: readonly string[]): DocumentedResponse {
  return { schema: {}, codes: [], fileTypes, problemOf: () => null };
}

function documentedResponse(schema: JsonSchema, codes: string[]): DocumentedResponse {
  // Compiled at the first response: a test sees few of those in the document.
  let validator: ReturnType<typeof compileClosed> | undefined;
  return {
    schema,
    codes,
    problemOf: (body) => {
      validator ??= compileClosed(schema);
      // Listing all errors takes many times as long as a first check.
      if (validator.Check(body)) return null;
      const [, problems] = validator.Errors(body);
      return problems.map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
    },
  };
}

function compileClosed(schema: JsonSchema) {
  return Compile(closed(schema));
}

/** Replaces references by the schemas that they name. */
function resolved<Part>(part: Part, schemas: Record<string, JsonSchema>): Part {
  if (Array.isArray(part)) return part.map((item: unknown) => resolved(item, schemas)) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const target = (part as { $ref?: unknown }).$ref;
  if (typeof target === 'string') {
    const named = schemas[target.replace(reference, '')];
    assert.ok(named, `the document has no ${target}`);
    return resolved(named, schemas) as Part;
  }
  return mapValues(part as Record<string, unknown>, (value) => resolved(value, schemas)) as Part;
}

/** The document allows future fields; a test must not: a response has the documented fields only. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf } = schema;
  const names = Object.keys(properties ?? {});
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapValues(properties, closed) }),
    ...(names.length === 0 || schema.additionalProperties !== undefined ? {} : { additionalProperties: false }),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
  };
}

function mapValues<Value, Result>(values: Record<string, Value>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
