import { existsSync, readFileSync } from 'node:fs';
import { errorCodes, type ErrorCode } from '../../api/error-codes.ts';
import { html, type Html } from '../../kit/html.ts';
import type { PageContent } from '../document.ts';
import { renderMarkdown } from './markdown.ts';
import { referenceLayout } from './reference-layout.ts';

/** An error code with its page in docs/errors. */
export interface ErrorGuide {
  code: ErrorCode;
  status: number;
  title: string;
  body: Html;
}

const folder = new URL('../../../../docs/errors/', import.meta.url);

let guidesRead: Map<string, ErrorGuide> | undefined;

/**
 * All codes in the order of `errorCodes`, with pages read once in a program. A server deployed without the docs folder still takes
 * payments, so a missing page shows only its title.
 */
export function readErrorGuides(): Map<string, ErrorGuide> {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  guidesRead ??= new Map(codes.map((code) => [code, { code, ...errorCodes[code], body: readBody(code) }]));
  return guidesRead;
}

function readBody(code: ErrorCode): Html {
  const path = new URL(`${code}.md`, folder);
  if (!existsSync(path)) return html`<h1>${errorCodes[code].title}</h1>`;
  return renderMarkdown(readFileSync(path, 'utf8'), linkOf);
}

/** Pages link to each other as files, so that the links also work in the repository. */
function linkOf(address: string): string | null {
  const page = /^(\w+)[.]md$/.exec(address)?.[1];
  if (page !== undefined) return `/errors/${page}`;
  return /^https?:\/\//.test(address) ? address : null;
}

export function errorPage({ code, title, body }: ErrorGuide): PageContent {
  return {
    title: `${title} (${code})`,
    refreshSeconds: null,
    body: referenceLayout({
      contents: null,
      body: html`<p class="trail"><a href="/errors">All errors</a></p>
${body}`,
    }),
  };
}

export function errorListPage(guides: Iterable<ErrorGuide>): PageContent {
  return {
    title: 'Error codes',
    refreshSeconds: null,
    body: referenceLayout({
      contents: null,
      body: html`<h1>Error codes</h1>
<p>All error responses have the same format. <code>message</code> says what to do, <code>code</code> never changes its
meaning, <code>request_id</code> identifies the request in the server’s log, and <code>doc_url</code> links to one of these pages.</p>
${guideTable([...guides])}`,
    }),
  };
}

/** The 404 page of an unknown code, with the list of all codes. */
export function unknownErrorPage(guides: Iterable<ErrorGuide>): PageContent {
  return {
    title: 'Unknown error code',
    refreshSeconds: null,
    body: referenceLayout({
      contents: null,
      body: html`<h1>Unknown error code</h1>
<p>These are all error codes.</p>
${guideTable([...guides])}`,
    }),
  };
}

function guideTable(guides: readonly ErrorGuide[]) {
  return html`<ul class="codes">
${guides.map(
  ({ code, status, title }) => html`<li><span class="status">${status}</span>
<span><a class="title" href="/errors/${code}">${title}</a><code>${code}</code></span></li>
`,
)}</ul>`;
}
