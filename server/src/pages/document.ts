import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, renderHtml, type Html } from '../kit/html.ts';
import { tabIcon } from './icons.ts';
import { styleBeside, type InlineAsset } from './inline-asset.ts';
import type { Accent } from './merchant-appearance.ts';

export interface PageContent {
  /** Text; Html without markup. */
  title: Html | string;
  /** The code of its language; English by default. */
  language?: string;
  body: Html;
  /** More for the head of a page behind a sign-in. */
  head?: Html;
  /** The name of the one of the sender's `moreStyles` that the page uses. */
  moreStyle?: string | null;
  /** Browsers without scripts reload the page after this many seconds; null on pages with a field to fill in. */
  refreshSeconds: number | null;
  /** The merchant's own colours; the service's by default. */
  accent?: Accent | null;
  /** What chats show of a link to the page. */
  preview?: { description: string; imageUrl: string | null };
  /** Opened by itself, at once; our own page stays open behind it. */
  opensUrl?: string | null;
}

/** What a page's script puts in place of the current main part. */
export type PagePart = Pick<PageContent, 'title' | 'body' | 'moreStyle'>;

/** Sends pages with the same style, script and headers. */
export interface PageSender {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { status: number; content: PageContent },
  ): Promise<FastifyReply>;
  /** A part of a page, which the page's script puts in place of the current one, after the style that it may need. */
  sendPart(request: FastifyRequest, reply: FastifyReply, part: PagePart): Promise<FastifyReply>;
  /** A page and its headers, for a response without a request. */
  render(content: PageContent): { headers: Record<string, string>; text: string };
}

export interface PageSenderOptions {
  publicUrl: () => string;
  style: InlineAsset;
  /** What only some states of the page need, so that the first view loads fast. */
  moreStyles?: ReadonlyMap<string, InlineAsset>;
  script: InlineAsset | null;
}

export function createPageSender(options: PageSenderOptions): PageSender {
  const headers = (accent: InlineAsset | null): Record<string, string> =>
    pageHeaders({
      publicUrl: options.publicUrl(),
      styleSource: [options.style, ...(options.moreStyles?.values() ?? []), ...(accent ? [accent] : [])]
        .map(({ source }) => source)
        .join(' '),
      scriptSource: options.script?.source ?? null,
    });
  return {
    async send(request, reply, { status, content }) {
      const accent = content.accent ? accentStyle(content.accent, options.style) : null;
      reply.code(status).headers(headers(accent));
      return reply.send(await compress(request, reply, renderDocument(content, options, accent?.text ?? '')));
    },
    async sendPart(request, reply, part) {
      reply.code(200).headers(headers(null));
      const title = renderHtml(html`<title>${part.title}</title>`);
      return reply.send(
        await compress(request, reply, `${title}${moreStyleOf(part, options)}${renderHtml(part.body)}`),
      );
    },
    render: (content) => ({ headers: headers(null), text: renderDocument(content, options, '') }),
  };
}

function moreStyleOf({ moreStyle }: PagePart, { moreStyles }: PageSenderOptions): string {
  const style = moreStyles?.get(moreStyle ?? '');
  return style ? `<style>${style.text}</style>` : '';
}

function accentStyle({ light, dark }: Accent, style: InlineAsset): InlineAsset {
  const rule = (properties: Readonly<Record<string, string>>): string =>
    `:root{${Object.entries(properties)
      .map(([name, colour]) => `${name}:${colour}`)
      .join(';')}}`;
  return styleBeside(style, `${rule(light)}@media screen and (prefers-color-scheme:dark){${rule(dark)}}`);
}

function previewTags({ title, preview }: PageContent): Html {
  if (preview === undefined) return html``;
  return html`<meta property="og:title" content="${title}"><meta property="og:description" content="${preview.description}">
${preview.imageUrl !== null && html`<meta property="og:image" content="${preview.imageUrl}">`}
`;
}

/** Style and script are our own files and are not escaped; everything else went through the escaping tag. */
function renderDocument(content: PageContent, options: PageSenderOptions, accent: string): string {
  const { style, script } = options;
  const head = html`<!doctype html>
<html lang="${content.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${content.title}</title>
${tabIcon}
${previewTags(content)}${content.opensUrl && html`<meta http-equiv="refresh" content="0;url=${content.opensUrl}">`}
${
  content.refreshSeconds !== null &&
  html`<noscript><meta http-equiv="refresh" content="${content.refreshSeconds}"></noscript>`
}
`;
  const scriptTag = script === null ? '' : `<script>${script.text}</script>\n`;
  return `${renderHtml(head)}<style>${style.text}</style>${accent && `<style>${accent}</style>`}${moreStyleOf(content, options)}
</head>
<body>
${withoutEmptyLines(renderHtml(content.body))}
${scriptTag}</body>
</html>
`;
}

/** Templates leave empty lines where they print nothing. */
export function withoutEmptyLines(text: string): string {
  return text.replace(/\n\s*\n/g, '\n');
}

const gzipped = promisify(gzip);

/** The text as it is sent: compressed where the client accepts it. */
export async function compress(request: FastifyRequest, reply: FastifyReply, text: string): Promise<string | Buffer> {
  reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(request.headers['accept-encoding'])) return text;
  reply.header('content-encoding', 'gzip');
  return gzipped(text);
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(String(header ?? ''));
}

interface PageHeaderOptions {
  /** With https, browsers are told to use only https. */
  publicUrl: string;
  /** Sources for the content security policy: `'sha256-…'`, or `'self'`. */
  styleSource: string;
  scriptSource: string | null;
  /** Of the file that describes a page as an app; by default none is read. */
  manifestSource?: string;
}

// A year, the minimum for HSTS preload lists.
const strictTransportSeconds = 365 * 24 * 3600;

/**
 * The headers of every HTML response: nothing is loaded from elsewhere, no site can frame the page, and its URL, which contains
 * the payment's token, is never sent as Referer.
 */
export function pageHeaders(options: PageHeaderOptions): Record<string, string> {
  const policy = [
    `default-src 'none'`,
    `style-src ${options.styleSource}`,
    ...(options.scriptSource === null ? [] : [`script-src ${options.scriptSource}`]),
    // The tab icon, which is inline.
    `img-src 'self' data:`,
    ...(options.manifestSource === undefined ? [] : [`manifest-src ${options.manifestSource}`]),
    `connect-src 'self'`,
    `form-action 'self'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-robots-tag': 'noindex',
    ...(new URL(options.publicUrl).protocol === 'https:'
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
