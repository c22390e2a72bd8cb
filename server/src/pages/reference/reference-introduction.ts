import { html, type Html } from '../../kit/html.ts';
import type { ApiDocument } from './api-document.ts';
import { renderInline } from './markdown.ts';

const requestIdHeader = 'x-request-id';

/** What applies to all operations: requests, errors, events and their signatures. */
export function referenceIntroduction(
  document: ApiDocument,
  { baseUrl, signatureHeader }: { baseUrl: string; signatureHeader: string },
): Html {
  return html`<p class="lead">${renderInline(document.info.description ?? '', () => null)}</p>
<section aria-labelledby="basics">
<h2 id="basics">Basics</h2>
<dl class="fields">
<div><dt>Base URL</dt><dd><code>${baseUrl}</code> for test and live; your key selects the environment.</dd></div>
<div><dt>Authentication</dt><dd>Send your secret key in every request: <code>Authorization: Bearer sk_test_…</code>. Keep it on your server.</dd></div>
<div><dt>Scopes</dt><dd>A key has one or more scopes: <code>payout</code> to take money out or decide where it goes, <code>charge</code> for every other
change, <code>read</code> for the rest. Each operation names the one that it requires; without it the response is 403.</dd></div>
<div><dt>Bodies</dt><dd>JSON. A request with an unknown field is refused, and the error names the field.</dd></div>
<div><dt>Amounts</dt><dd>Numbers in dalasi with at most two decimals: <code>450</code>, <code>10.5</code>.</dd></div>
<div><dt>Times</dt><dd>ISO 8601, UTC, with milliseconds: <code>2026-11-20T10:18:00.000Z</code>.</dd></div>
<div><dt>Lists</dt><dd>Newest first. For the next page, send <code>meta.next_cursor</code> as <code>cursor</code>; it is null on the last page.</dd></div>
<div><dt>Idempotency</dt><dd>Send an <code>Idempotency-Key</code> with each POST, for example a UUID. For 72 hours, the same key and body return the
first response again, with <code>Idempotent-Replayed: true</code>. The same key with another body is refused with 422.</dd></div>
<div><dt>Errors</dt><dd><code>message</code> says what to do, <code>code</code> is for your program. <a href="/errors">All codes</a>.</dd></div>
<div><dt>Request id</dt><dd>Every response has <code>${requestIdHeader}</code>. Quote it when you ask for help.</dd></div>
</dl>
</section>
<section aria-labelledby="events">
<h2 id="events">Events</h2>
<p>Dalasi sends events as POST requests to your <a href="#webhook-endpoints">webhook endpoints</a> and to a payment’s
<code>callback_url</code>. Respond with any 2xx status within 15 seconds. Anything else is retried, up to ten attempts over three days.
A 410 response or five days without a success switch the endpoint off. The <a href="#event-log">event log</a> shows each delivery
and its response, and can send events again.</p>
<pre tabindex="0"><code>{"id": "…", "event": "charge.succeeded", "created_at": "…", "test_mode": true,
 "sequence": 2, "data": {…}, "payload": {…}}</code></pre>
<p><code>data</code> and <code>payload</code> are the same record. <code>sequence</code> increases with each event of a record, so you can ignore an
event that is older than your state. An event can arrive more than once, with the same <code>id</code>.</p>
<p>Verify the signature before you use an event: <code>${signatureHeader}</code> is the lower-case hex HMAC-SHA512 of the raw body, keyed with
the endpoint’s whole secret, including <code>wh_</code>. The Standard Webhooks headers <code>webhook-id</code>, <code>webhook-timestamp</code> and
<code>webhook-signature</code> are also sent; for their libraries, use the secret without <code>wh_</code>.</p>
</section>`;
}
