import { html, renderHtml } from '../kit/html.ts';
import { compress, pageHeaders, withoutEmptyLines, type PageContent, type PageSender } from '../pages/document.ts';
import { tabIcon } from '../pages/icons.ts';
import type { Assets } from './assets.ts';

interface SenderOptions {
  publicUrl: () => string;
  assets: Assets;
}

/** Of every response behind a sign-in, also of files and redirections: our own files may be loaded and nothing else. */
export function portalHeaders(publicUrl: string): Record<string, string> {
  return pageHeaders({ publicUrl, styleSource: `'self'`, scriptSource: `'self'`, manifestSource: `'self'` });
}

/** Sends the pages behind a sign-in. */
export function createPortalSender({ publicUrl, assets }: SenderOptions): PageSender {
  const headers = () => portalHeaders(publicUrl());
  return {
    async send(request, reply, { status, content }) {
      reply.code(status).headers(headers());
      return reply.send(await compress(request, reply, renderDocument(content, assets)));
    },
    async sendPart(request, reply, { body }) {
      reply.code(200).headers(headers());
      return reply.send(await compress(request, reply, renderHtml(body)));
    },
    render: (content) => ({ headers: headers(), text: renderDocument(content, assets) }),
  };
}

function renderDocument({ title, body, head }: PageContent, { tags }: Assets): string {
  return withoutEmptyLines(
    renderHtml(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Dalasi</title>
${tabIcon}
${tags}
${head}
</head>
<body>
${body}
</body>
</html>
`),
  );
}
