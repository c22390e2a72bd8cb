import type { FastifyPluginAsync } from 'fastify';
import { createPageSender } from '../document.ts';
import { loadStyle } from '../inline-asset.ts';
import type { ApiDocument } from './api-document.ts';
import { errorListPage, errorPage, readErrorGuides, unknownErrorPage } from './error-pages.ts';
import { referencePage } from './reference-page.ts';

export interface ReferencePagesOptions {
  /** Generates the OpenAPI document from the routes; called once, on the first request. */
  describeApi: () => Promise<object>;
  /** The service's public URL; a function, because the port is known only once it listens. */
  publicUrl: () => string;
  /** The name of the webhook signature header. */
  signatureHeader: string;
}

const style = loadStyle(new URL('../style.css', import.meta.url), new URL('reference.css', import.meta.url));

/**
 * The documentation that the service serves: the API reference at `/docs`, the OpenAPI document at `/openapi.json`, and under
 * `/errors` the pages that error responses link to. No page has a script.
 */
export const referencePages: FastifyPluginAsync<ReferencePagesOptions> = async (app, options) => {
  const { publicUrl, signatureHeader } = options;
  const guides = readErrorGuides();
  const sender = createPageSender({ publicUrl, style, script: null });
  // Generating the document takes 0.1 s, longer than everything else at start.
  const described = once(async () => {
    const document = await options.describeApi();
    // Written by our own generator, so its shape is known.
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
