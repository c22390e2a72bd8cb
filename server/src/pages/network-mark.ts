import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';

// Networks whose mark has a colour of its own in the style; each keeps 4.5:1 against its white letter.
const coloured = new Set(['wave', 'afrimoney', 'qmoney', 'aps']);

/** A letter on a colour: enough to find one's network at a glance without copying anybody's logo. */
export function networkMark(networkId: string, displayName: string): Html {
  const colour = coloured.has(networkId) ? networkId : 'other';
  return html`<span class="mark mark-${colour}" aria-hidden="true">${displayName.slice(0, 1).toUpperCase()}</span>`;
}
