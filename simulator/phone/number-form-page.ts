import { html } from '../../server/src/kit/html.ts';
import type { PageContent } from '../../server/src/pages/document.ts';
import { icon } from '../../server/src/pages/icons.ts';
import { layout } from '../../server/src/pages/layout.ts';
import { scenarioHints } from './scenario-hints.ts';

/** Which phone to hold. A form by GET, so that the phone's address can be kept and shared. */
export function numberFormPage(form: { refusedNumber: string | null; key: string | null }): PageContent {
  const refused = form.refusedNumber !== null;
  return {
    title: 'Simulated phone',
    refreshSeconds: null,
    body: layout(html`<header class="ribbon"><p><b>Simulated phone</b>: no real money moves</p></header>
<main class="card narrow">
<section class="step" aria-labelledby="step">
<h1 id="step">Whose phone?</h1>
<p>In test mode payers approve on a phone that is this page, and payouts arrive on it. Enter the number that was typed on the payment page, or that money was sent to.</p>
<form action="/simulator/phone">
${form.key !== null && html`<input type="hidden" name="key" value="${form.key}">`}
<div>
<label for="number">Number</label>
<input id="number" name="number" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required value="${form.refusedNumber}"${
      refused && html` aria-invalid="true"`
    } aria-describedby="${refused && 'number-error '}number-hint" autofocus>
${
  refused &&
  html`<p class="error" id="number-error">${icon('warning')}That is not a number. Write 7 or 9 digits, like 700 2345.</p>`
}
<p class="hint" id="number-hint">Any usual form, like 700 2345 or +220 87 700 2345.</p>
</div>
<button class="button">${icon('phone')}Take the phone</button>
</form>
${scenarioHints}
</section>
</main>`),
  };
}
