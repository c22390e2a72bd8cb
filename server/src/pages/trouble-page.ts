import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import type { PageContent } from './document.ts';
import { icon } from './icons.ts';
import type { IconName } from './icons.ts';
import { shell } from './shell.ts';

export interface Trouble {
  title: string;
  icon: IconName;
  body: Html;
  /** Where to go on, within this host. */
  link: { href: string; words: string } | null;
  requestId: string | null;
}

/** A page for what went wrong: it says what happened to the payment first, and then what to do. */
export function troublePage(trouble: Trouble): PageContent {
  return {
    title: trouble.title,
    refreshSeconds: null,
    body: shell(html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal calm">${icon(trouble.icon)}</p>
<h1 id="step">${trouble.title}</h1>
${trouble.body}
${trouble.link !== null && html`<p><a class="button" href="${trouble.link.href}">${trouble.link.words}</a></p>`}
${trouble.requestId !== null && html`<p class="hint">Request <span class="reference">${trouble.requestId}</span></p>`}
</section>
</main>`),
  };
}
