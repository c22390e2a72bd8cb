import { html, type Html } from '../../kit/html.ts';

/** JSON with a line for each field; as it is where it is no JSON, such as one that was cut. It scrolls by keyboard too. */
export function prettyJson(text: string, label: string): Html {
  return html`<pre class="json" tabindex="0" role="region" aria-label="${label}">${indented(text)}</pre>`;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
