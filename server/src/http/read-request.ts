import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { AppError, fieldError } from '../api/app-error.ts';
import type { BoundRoute } from '../api/route.ts';
import { StrictJsonError, parseStrictJsonBytes } from '../kit/strict-json.ts';

/** The query of a route without parameters. */
export const noParameters: TSchema = Type.Object({}, { additionalProperties: false });

// Three times a payment with full metadata.
const bodyLimitBytes = 64 * 1024;

/**
 * Parses every body with the strict parser: a duplicate field, a number that cannot be represented exactly or a `__proto__`
 * is refused. An empty body is no body, whatever its content type or transfer encoding: many clients send these headers
 * without a body.
 */
export function parseBodiesStrictly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request) => checkEncoding(request.headers['content-encoding'] ?? 'identity'));
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (request: FastifyRequest, body: Buffer) => {
      checkCharset(request.headers['content-type'] ?? '');
      request.bodyBytes = body.length;
      return body.length === 0 ? undefined : parseBody(body);
    },
  );
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (_request: FastifyRequest, body: Buffer) => {
      if (body.length > 0) throw new AppError('unsupported_media_type', 'Send the body as application/json.');
    },
  );
}

function parseBody(body: Buffer): unknown {
  try {
    return parseStrictJsonBytes(body);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new AppError('invalid_json', error.message, { fields: [{ path: error.path, message: error.message }] });
  }
}

/** Bodies are too small to gain from compression. */
function checkEncoding(contentEncoding: string): void {
  if (contentEncoding.trim().toLowerCase() === 'identity') return;
  throw new AppError('unsupported_media_type', 'Send the body as it is, without Content-Encoding.');
}

/** JSON is UTF-8 (RFC 8259); a body in another encoding would be misread without an error. */
function checkCharset(contentType: string): void {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  }
}

/**
 * The parameters of a path, where the id of a record is in lower case, as responses, events and the audit log have it; a
 * request may write it in capitals.
 */
export function canonicalParams(params: unknown): Record<string, string> {
  const values = Object.entries(params as Readonly<Record<string, string>>);
  return Object.fromEntries(values.map(([name, value]) => [name, value.toLowerCase()]));
}

/** Whether the body may be left out: that of a POST whose fields are all optional. */
export function isBodyOptional({ method, body }: Pick<BoundRoute, 'method' | 'body'>): boolean {
  const { required = [], type } = (body ?? {}) as { required?: string[]; type?: string };
  return method === 'POST' && type === 'object' && required.length === 0;
}

/** The body of a request that has none. */
export function defaultBody(route: BoundRoute): object {
  if (isBodyOptional(route)) return {};
  throw new AppError('invalid_request', 'The body is missing. Send JSON.');
}

/** Allows `{}`, which some clients always send; any other content would be ignored silently. */
export function refuseBody({ body }: FastifyRequest): void {
  if (body === undefined || body === null) return;
  const [name] = typeof body === 'object' ? Object.keys(body) : ['The body'];
  if (name === undefined) return;
  throw fieldError('unknown_field', name, `${name} is not a known field: this endpoint accepts no body.`);
}

/**
 * Query parameters are text. Where the schema says integer, whole numbers become numbers; other text stays, and the schema
 * refuses it by name. NUL characters, which the database cannot store, are refused here.
 */
export function coerceQuery(query: unknown, schema: TSchema | undefined): void {
  if (typeof query !== 'object' || query === null || schema === undefined) return;
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  const values = query as Record<string, unknown>;
  for (const [name, property] of Object.entries(properties)) {
    const value = values[name];
    if (typeof value === 'string' && value.includes('\0')) {
      throw fieldError('invalid_request', name, `${name} holds a NUL character, which is not allowed.`);
    }
    if (property.type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) {
      values[name] = Number(value);
    }
  }
}

/** How often a header field (in lower case) was sent. Node joins or drops repetitions in `headers`. */
export function headerCount(request: FastifyRequest, name: string): number {
  return request.raw.rawHeaders.filter((sent, index) => index % 2 === 0 && sent.toLowerCase() === name).length;
}
