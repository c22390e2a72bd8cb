import { html, type Html } from '../../kit/html.ts';
import { listKeys } from '../../merchants/manage-keys.ts';
import { operationsByTag, type PlacedOperation } from '../../pages/reference/api-document.ts';
import { curlExample } from '../../pages/reference/example-request.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { keyText } from '../../portal/records/key-texts.ts';

const placeholder = 'sk_test_…';

/**
 * Every operation with an example for the test environment. Keys are stored as hashes, so the page names the newest test key by
 * its ends; a key that somebody pastes is filled in by the page’s script and leaves the browser never: its field has no name and
 * stands in no form.
 */
export const referencePage: DashboardRoute = {
  path: '/reference',
  action: 'requests.read',
  async handle({ money, accounts, describeApi, merchant }) {
    const merchants = await money.merchants.ofBusiness(merchant.businessId);
    const test = merchants.find(({ testMode }) => testMode) ?? merchant;
    const keys = (await listKeys(money.db, money.clock, test)).filter(
      ({ state }) => state === 'active' || state === 'expires',
    );
    const newest = keys.at(-1);
    const shown = newest ? keyText(newest, true) : placeholder;
    const groups = [...operationsByTag(await describeApi())];
    return {
      title: 'API reference',
      body: html`<header class="head"><h1>API reference</h1><p class="actions"><a class="button small plain" href="/docs">The whole reference</a></p></header>
<section class="panel" data-key-filler hidden><div class="field"><label for="test-key">Your test key, for the examples</label>
<input id="test-key" type="text" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="test-key-hint">
<p class="hint" id="test-key-hint">Begins with sk_test_. It stays in this page: nothing is sent, and nothing is kept.</p></div>
<p class="error" data-key-error hidden>That is a live key. Paste a test key: live keys belong on your server only.</p></section>
${groups.map(([tag, operations]) => html`<section class="panel"><h2>${tag}</h2>${operations.map((each) => operationPart(each, shown, accounts.publicUrl()))}</section>`)}`,
    };
  },
};

function operationPart(placed: PlacedOperation, key: string, baseUrl: string): Html {
  const { method, path, operation } = placed;
  return html`<details><summary>${operation.summary} <code>${method} ${path}</code></summary>
<pre class="json" tabindex="0" role="region" aria-label="Example: ${operation.summary}" data-example="${key}">${curlExample(placed, baseUrl).replaceAll(placeholder, key)}</pre>
<p><a href="/docs#${operation.operationId}">Parameters, response and errors of “${operation.summary}”</a></p></details>`;
}
