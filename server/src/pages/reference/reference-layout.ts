import { html, type Html } from '../../kit/html.ts';

/** The layout of the documentation: navigation, table of contents and text. */
export function referenceLayout(page: { contents: Html | null; body: Html }): Html {
  return html`<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<a class="home" href="/docs">Dalasi</a>
<nav aria-label="Documentation">
<a href="/docs">API reference</a>
<a href="/errors">Errors</a>
<a href="/openapi.json">OpenAPI</a>
</nav>
</header>
<div class="reference">
${page.contents}
<main id="main" class="text">
${page.body}
</main>
</div>`;
}
