import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import type { PageContent } from './document.ts';
import { icon } from './icons.ts';
import type { IconName } from './icons.ts';
import { layout } from './layout.ts';

export interface HttpErrorText {
  title: string;
  icon: IconName;
  body: Html;
  /** Where to go on, within this host. */
  link: { href: string; words: string } | null;
  requestId: string | null;
}

/** A page for what went wrong: it says what happened to the payment first, and then what to do. */
export function httpErrorPage(error: HttpErrorText): PageContent {
  return {
    title: error.title,
    refreshSeconds: null,
    body: layout(html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal calm">${icon(error.icon)}</p>
<h1 id="step">${error.title}</h1>
${error.body}
${error.link !== null && html`<p><a class="button" href="${error.link.href}">${error.link.words}</a></p>`}
${error.requestId !== null && html`<p class="hint">Request <span class="reference">${error.requestId}</span></p>`}
</section>
</main>`),
  };
}
