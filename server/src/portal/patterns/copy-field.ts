import { html, type Html } from '../../kit/html.ts';

/** A text to copy: a button does it where scripts run; without them the field selects like any other. */
export function copyField(id: string, label: string, text: string): Html {
  return html`<div class="field copy"><label for="${id}">${label}</label>
<div class="row"><input id="${id}" value="${text}" readonly autocomplete="off" spellcheck="false">
<button type="button" class="button small plain" data-copy="${text}" hidden>Copy</button></div></div>`;
}
