import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';

/** What stands around the main part of every page. */
export function layout(body: Html): Html {
  return html`<div class="page">
${body}
</div>`;
}

export const testRibbon = html`<header class="ribbon"><p><b>Test mode</b>: no real money moves</p></header>`;
