import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, renderHtml } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { tabIcon } from './icons.ts';
import type { InlineAsset } from './inline-asset.ts';
import { pageHeaders } from './page-headers.ts';
import { cleanText } from './page-text.ts';

export interface PageContent {
  title: string;
  body: Html;
  /** Browsers without scripts load the page again after so many seconds; null where something is being typed. */
  refreshSeconds: number | null;
}

/** Sends pages of one look: one style, one script, the same headers on each. */
export interface PageSender {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { status: number; content: PageContent },
  ): Promise<FastifyReply>;
  /** A piece of a page, for the script that puts it into the page already shown. */
  sendPart(request: FastifyRequest, reply: FastifyReply, part: Html): Promise<FastifyReply>;
}

export interface PageSenderOptions {
  publicUrl: () => string;
  style: InlineAsset;
  script: InlineAsset | null;
}

export function createPageSender(options: PageSenderOptions): PageSender {
  const headers = (): Record<string, string> =>
    pageHeaders({
      publicUrl: options.publicUrl(),
      styleSources: [options.style.source],
      scriptSources: options.script === null ? [] : [options.script.source],
    });
  return {
    async send(request, reply, { status, content }) {
      reply.code(status).headers(headers());
      return reply.send(await compress(request, reply, renderDocument(content, options)));
    },
    async sendPart(request, reply, part) {
      reply.code(200).headers(headers());
      return reply.send(await compress(request, reply, renderHtml(part)));
    },
  };
}

/** The style and the script are our own files and stand raw; everything else went through the escaping tag. */
function renderDocument(content: PageContent, { style, script }: PageSenderOptions): string {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${cleanText(content.title)}</title>
${tabIcon}
${
  content.refreshSeconds !== null &&
  html`<noscript><meta http-equiv="refresh" content="${content.refreshSeconds}"></noscript>`
}
`;
  const scriptTag = script === null ? '' : `<script>${script.text}</script>\n`;
  return `${renderHtml(head)}<style>${style.text}</style>
</head>
<body>
${withoutEmptyLines(renderHtml(content.body))}
${scriptTag}</body>
</html>
`;
}

/** What templates leave where they print nothing. */
function withoutEmptyLines(text: string): string {
  return text.replace(/\n\s*\n/g, '\n');
}

const gzipped = promisify(gzip);

async function compress(request: FastifyRequest, reply: FastifyReply, text: string): Promise<string | Buffer> {
  reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(request.headers['accept-encoding'])) return text;
  reply.header('content-encoding', 'gzip');
  return gzipped(text);
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(String(header ?? ''));
}
