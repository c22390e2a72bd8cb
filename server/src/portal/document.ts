import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { html, renderHtml } from '../kit/html.ts';
import { compress, pageHeaders, withoutEmptyLines } from '../pages/document.ts';
import type { PageContent, PageSender } from '../pages/document.ts';
import { tabIcon } from '../pages/icons.ts';
import { loadScript, loadStyle } from '../pages/inline-asset.ts';

// Unlike the payer's pages, which are seen once, these are seen all day: style and scripts are files that the browser keeps.
const files = [
  {
    type: 'text/css; charset=utf-8',
    extension: 'css',
    text: loadStyle(
      new URL('../pages/style.css', import.meta.url),
      new URL('../pages/controls.css', import.meta.url),
      new URL('portal.css', import.meta.url),
    ).text,
  },
  {
    type: 'text/javascript; charset=utf-8',
    extension: 'js',
    text: loadScript(new URL('passkey.js', import.meta.url)).text,
  },
] as const;

const assetsPath = '/dashboard/assets';
const hashLength = 16;

// The name changes with the content, so a browser never uses an old file with a new page.
const assets = files.map(({ type, extension, text }) => {
  const name = `${hash('sha256', text).slice(0, hashLength)}.${extension}`;
  return { type, text, extension, path: `${assetsPath}/${name}` };
});

const yearSeconds = 365 * 24 * 3600;

/** Serves the style and the script of the pages behind a sign-in. */
export async function portalAssets(app: FastifyInstance): Promise<void> {
  for (const { path, type, text } of assets) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      reply.type(type).header('cache-control', `public, max-age=${yearSeconds}, immutable`);
      return reply.send(await compress(request, reply, text));
    });
  }
}

/** Sends the pages behind a sign-in, under a content policy that allows our own files and nothing else. */
export function createPortalSender({ publicUrl }: { publicUrl: () => string }): PageSender {
  const headers = () => pageHeaders({ publicUrl: publicUrl(), styleSource: `'self'`, scriptSource: `'self'` });
  return {
    async send(request, reply, { status, content }) {
      reply.code(status).headers(headers());
      return reply.send(await compress(request, reply, renderDocument(content)));
    },
    async sendPart(request, reply, { body }) {
      reply.code(200).headers(headers());
      return reply.send(await compress(request, reply, renderHtml(body)));
    },
    render: (content) => ({ headers: headers(), text: renderDocument(content) }),
  };
}

function renderDocument({ title, body }: PageContent): string {
  return withoutEmptyLines(
    renderHtml(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Dalasi</title>
${tabIcon}
${assets.map(({ extension, path }) =>
  extension === 'css' ? html`<link rel="stylesheet" href="${path}">` : html`<script src="${path}" defer></script>`,
)}
</head>
<body>
${body}
</body>
</html>
`),
  );
}
