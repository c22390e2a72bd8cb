import { html, type Html } from '../kit/html.ts';
import { layout } from '../pages/layout.ts';

/** A page with one thing to do, such as signing in. */
export function narrowPage(heading: string, body: Html): { title: string; body: Html } {
  return {
    title: heading,
    body: layout(html`<main class="card narrow">
<section class="step stack">
<h1>${heading}</h1>
${body}
</section>
</main>`),
  };
}

/** A form that a passkey fills in; without scripts it stays hidden, and a code does the same work. */
export function passkeyForm(form: {
  action: string;
  kind: 'get' | 'create';
  question: object;
  hidden: Html;
  button: string;
  fields?: Html;
}): Html {
  return html`<form method="post" action="${form.action}" class="stack" hidden data-kind="${form.kind}"
data-passkey="${JSON.stringify(form.question)}">
${form.hidden}<input type="hidden" name="passkey" value="">
${form.fields}
<p role="alert"></p>
<button class="button plain">${form.button}</button>
</form>`;
}
