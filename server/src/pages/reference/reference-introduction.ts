import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import type { ApiDocument } from './api-document.ts';
import { renderInline } from './markdown.ts';

const requestIdHeader = 'x-request-id';

/** What holds for every operation, and what no operation tells: how requests are made and how events are verified. */
export function referenceIntroduction(
  document: ApiDocument,
  { baseUrl, signatureHeader }: { baseUrl: string; signatureHeader: string },
): Html {
  return html`<p class="lead">${renderInline(document.info.description ?? '', () => null)}</p>
<section aria-labelledby="basics">
<h2 id="basics">Basics</h2>
<dl class="fields">
<div><dt>Address</dt><dd><code>${baseUrl}</code>, for test and live alike.</dd></div>
<div><dt>Authentication</dt><dd>Send your secret key in every request: <code>Authorization: Bearer sk_test_…</code>. Keep it on your server.</dd></div>
<div><dt>Bodies</dt><dd>JSON. A field that is not known is refused and named, so a slip cannot pass unseen.</dd></div>
<div><dt>Amounts</dt><dd>Numbers in dalasi with at most two decimals: <code>450</code>, <code>10.5</code>.</dd></div>
<div><dt>Times</dt><dd>ISO 8601, UTC, with milliseconds: <code>2026-11-20T10:18:00.000Z</code>.</dd></div>
<div><dt>Lists</dt><dd>Newest first. For the next page send <code>meta.next_cursor</code> as <code>cursor</code>; it is null on the last one.</dd></div>
<div><dt>Repeating</dt><dd>Give a POST an <code>Idempotency-Key</code>, for example a UUID. The same key and body answer the first result again,
with <code>Idempotent-Replayed: true</code>, for 72 hours. Another body under the same key is refused with 422.</dd></div>
<div><dt>Errors</dt><dd><code>message</code> says what to do, <code>code</code> is for your program. <a href="/errors">All codes</a>.</dd></div>
<div><dt>Request id</dt><dd>Every answer has <code>${requestIdHeader}</code>. Name it when you ask for help.</dd></div>
</dl>
</section>
<section aria-labelledby="events">
<h2 id="events">Events</h2>
<p>Events reach your <a href="#webhook-endpoints">webhook endpoints</a> and a payment’s <code>callback_url</code> as a POST. Answer with any 2xx
within 15 seconds. Everything else is tried again, ten times in all over three days; 410 switches the endpoint off, and so do
five days without one success. What was sent and what came back is in the <a href="#event-log">event log</a>, which also sends it
again.</p>
<pre tabindex="0"><code>{"id": "…", "event": "charge.succeeded", "created_at": "…", "test_mode": true,
 "sequence": 2, "data": {…}, "payload": {…}}</code></pre>
<p><code>data</code> and <code>payload</code> are the same record. <code>sequence</code> counts up for each record, so you can drop what is older than
what you know. The same event may come twice: its <code>id</code> stays the same.</p>
<p>Verify before you trust: <code>${signatureHeader}</code> is the lower-case hex HMAC-SHA512 of the raw body, keyed with the endpoint’s
whole secret, <code>wh_</code> included. The Standard Webhooks headers <code>webhook-id</code>, <code>webhook-timestamp</code> and
<code>webhook-signature</code> are there too; their libraries take the part of the secret behind <code>wh_</code>.</p>
</section>`;
}
