import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import type { Page } from './page-route.ts';

interface ShownSecret {
  title: string;
  /** What the secret is: “Your new API key”. */
  label: string;
  secret: string;
  /** What to do with it, and what changes. */
  effect: Html;
  /** The whole path where “I have copied it” leads. */
  next: { href: string; text: string };
}

/**
 * The page with a new secret: the response to the POST that made it, and nowhere else. No address shows it again, and no browser
 * keeps it (`cache-control: no-store` is on every page; the mark keeps it out of what scripts keep).
 */
export function secretPage({ title, label, secret, effect, next }: ShownSecret): Page {
  return {
    title,
    body: html`<section class="narrow-form panel" data-turbo-temporary>
<h1>${title}</h1>
<p class="notice wait">This is shown once. Copy it now, into your server’s secrets: nobody can show it to you again.</p>
<div class="field"><label for="secret">${label}</label>
<input id="secret" class="secret" readonly value="${secret}" autocomplete="off" spellcheck="false" aria-describedby="secret-hint">
<p class="hint" id="secret-hint">Select all of it and copy. Never put it in a page, an app or a message.</p></div>
${effect}
<div class="actions"><a class="button" href="${next.href}">${next.text}</a></div></section>`,
  };
}
