import type { FastifyPluginAsync } from 'fastify';
import { createPageSender } from '../document.ts';
import { loadStyle } from '../inline-asset.ts';
import type { ApiDocument } from './api-document.ts';
import { readErrorGuides } from './error-guide.ts';
import { errorListPage, errorPage, unknownErrorPage } from './error-pages.ts';
import { referencePage } from './reference-page.ts';

export interface ReferencePagesOptions {
  /** Makes the OpenAPI document of the API from its routes; asked once, when somebody wants to read it. */
  describeApi: () => Promise<object>;
  /** Where the world reaches the service; a function, because a port is known only once it listens. */
  publicUrl: () => string;
  /** The name of the service's own signature header. */
  signatureHeader: string;
}

const style = loadStyle(new URL('../style.css', import.meta.url), new URL('reference.css', import.meta.url));

/**
 * The documentation that a running service brings: the API reference at `/docs`, its OpenAPI document at
 * `/openapi.json`, and under `/errors` the pages that every refusal links to. No page has a script.
 */
export const referencePages: FastifyPluginAsync<ReferencePagesOptions> = async (app, options) => {
  const { publicUrl, signatureHeader } = options;
  const guides = readErrorGuides();
  const sender = createPageSender({ publicUrl, style, script: null });
  // Making the document takes a tenth of a second, which is more than everything else at the start.
  const described = once(async () => {
    const document = await options.describeApi();
    // Our own generator wrote it; the reference reads the parts that generator writes.
    return { text: JSON.stringify(document), document: document as ApiDocument };
  });

  app.get('/openapi.json', async (_request, reply) => {
    const { text } = await described();
    return reply.headers(documentHeaders).send(text);
  });
  app.get('/docs', async (request, reply) => {
    const { document } = await described();
    const content = referencePage(document, { baseUrl: publicUrl(), signatureHeader });
    return sender.send(request, reply, { status: 200, content });
  });
  app.get('/errors', async (request, reply) =>
    sender.send(request, reply, { status: 200, content: errorListPage(guides.values()) }),
  );
  app.get<{ Params: { code: string } }>('/errors/:code', async (request, reply) => {
    const guide = guides.get(request.params.code);
    const content = guide ? errorPage(guide) : unknownErrorPage(guides.values());
    return sender.send(request, reply, { status: guide ? 200 : 404, content });
  });
};

const documentHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
};

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let cached: Promise<Value> | null = null;
  return () => (cached ??= make());
}
