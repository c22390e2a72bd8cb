import { html } from '../../kit/html.ts';
import type { PageContent } from '../document.ts';
import type { ErrorGuide } from './error-guide.ts';
import { referenceLayout } from './reference-layout.ts';

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
<p>Every answer that is not a success has the same shape. <code>message</code> says what to do, <code>code</code> never changes
its meaning, <code>request_id</code> finds the request in the server’s log, and <code>doc_url</code> leads to one of these pages.</p>
${guideTable([...guides])}`,
    }),
  };
}

/** For an address that names no code: what there is instead. */
export function unknownErrorPage(guides: Iterable<ErrorGuide>): PageContent {
  return {
    title: 'There is no such error code',
    refreshSeconds: null,
    body: referenceLayout({
      contents: null,
      body: html`<h1>There is no such error code</h1>
<p>These are all that an answer can carry.</p>
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
