import { html, type Html } from '../../kit/html.ts';
import { copyField } from './copy-field.ts';
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
 * keeps it: `cache-control: no-store` is on every page, and the mark takes it out of a page that the browser holds in memory for
 * its Back button (patterns.js).
 */
export function secretPage({ title, label, secret, effect, next }: ShownSecret): Page {
  return {
    title,
    body: html`<section class="narrow-form panel" data-secret>
<h1>${title}</h1>
<p class="notice wait">This is shown once. Copy it now, into your server’s secrets: nobody can show it to you again.</p>
${copyField('secret', label, secret)}
<p class="hint">Never put it in a page, an app or a message.</p>
${effect}
<div class="actions"><a class="button" href="${next.href}">${next.text}</a></div></section>`,
  };
}
