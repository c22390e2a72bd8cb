import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import type { PageContent } from './document.ts';
import { icon } from './icons.ts';
import type { IconName } from './icons.ts';

/** The frame of every page. */
export function layout(body: Html): Html {
  return html`<div class="page">
${body}
</div>`;
}

export const testRibbon = html`<header class="ribbon"><p><b>Test mode</b>: no real money moves</p></header>`;

export interface Message {
  heading: string;
  /** The tab's title; the heading by default. */
  title?: string;
  icon: IconName;
  tone?: 'calm' | 'good';
  body: Html;
}

/** A page with one message and nothing to fill in. */
export function messagePage({ heading, title = heading, icon: iconName, tone = 'calm', body }: Message): PageContent {
  return {
    title,
    refreshSeconds: null,
    body: layout(html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal ${tone}">${icon(iconName)}</p>
<h1 id="step">${heading}</h1>
${body}
</section>
</main>`),
  };
}
