import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { StrictJsonError, parseStrictJsonBytes } from '../kit/strict-json.ts';

/** The largest body anyone needs: a payment with full metadata is a third of it. */
export const bodyLimitBytes = 64 * 1024;

/**
 * Bodies are read by the strict parser and by nothing else: a field that stands twice, a number that cannot be kept
 * exactly or a `__proto__` is refused rather than guessed at. An empty body is no body, whatever it is called: many
 * clients name a type, or announce chunks, where they have nothing to send.
 */
export function takeStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request) => checkEncoding(request.headers['content-encoding'] ?? 'identity'));
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (request: FastifyRequest, body: Buffer) => {
      checkCharset(request.headers['content-type'] ?? '');
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

/** A compressed body would be read as if it were not; small bodies gain nothing by it. */
function checkEncoding(contentEncoding: string): void {
  if (contentEncoding.trim().toLowerCase() === 'identity') return;
  throw new AppError('unsupported_media_type', 'Send the body as it is, without Content-Encoding.');
}

/** JSON is UTF-8 (RFC 8259); a body in another encoding would be read wrongly rather than not at all. */
function checkCharset(contentType: string): void {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  }
}
