import type { FastifyPluginAsync } from 'fastify';
import { createPageSender } from '../document.ts';
import type { PageContent } from '../document.ts';
import { loadStyle } from '../inline-asset.ts';
import type { ApiDocument } from './api-document.ts';
import { readErrorGuides } from './error-guide.ts';
import { errorListPage, errorPage, unknownErrorPage } from './error-pages.ts';
import { referencePage } from './reference-page.ts';

export interface ReferencePagesOptions {
  /** The OpenAPI document of the API, made once from its routes. */
  document: object;
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
  // The document comes from our own generator; the reference reads the parts that generator writes.
  const document = options.document as ApiDocument;
  const documentText = JSON.stringify(options.document);
  const guides = readErrorGuides();
  const sender = createPageSender({ publicUrl, style, script: null });
  const reference = rememberByUrl((baseUrl) => referencePage(document, { baseUrl, signatureHeader }));

  app.get('/openapi.json', async (_request, reply) =>
    reply
      .headers({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      })
      .send(documentText),
  );
  app.get('/docs', async (request, reply) =>
    sender.send(request, reply, { status: 200, content: reference(publicUrl()) }),
  );
  app.get('/errors', async (request, reply) =>
    sender.send(request, reply, { status: 200, content: errorListPage(guides.values()) }),
  );
  app.get<{ Params: { code: string } }>('/errors/:code', async (request, reply) => {
    const guide = guides.get(request.params.code);
    const content = guide ? errorPage(guide) : unknownErrorPage(guides.values());
    return sender.send(request, reply, { status: guide ? 200 : 404, content });
  });
};

/** The page is long and changes with its address only. */
function rememberByUrl(build: (url: string) => PageContent): (url: string) => PageContent {
  let built: { url: string; content: PageContent } | null = null;
  return (url) => {
    if (built?.url !== url) built = { url, content: build(url) };
    return built.content;
  };
}
