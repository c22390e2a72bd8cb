import { html, type Html } from '../kit/html.ts';

// Drawn for these pages on a 24-unit grid, in the current text colour.
const shapes = {
  check: html`<path d="M5 12.5l4.5 4.5L19 7.5"/>`,
  cross: html`<path d="M7 7l10 10M17 7L7 17"/>`,
  clock: html`<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>`,
  eye: html`<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"/><circle cx="12" cy="12" r="3"/>`,
  back: html`<path d="M4.5 9h10a5 5 0 0 1 0 10H9M8.5 5l-4 4 4 4"/>`,
  warning: html`<path d="M12 4L2.8 19.5h18.4z"/><path d="M12 10v4.5M12 17v.2"/>`,
  leave: html`<path d="M13.5 5H19v5.5M19 5l-8.5 8.5M16.5 14v5h-11v-11h5"/>`,
  shop: html`<path d="M4 10v9.5h16V10M3 10l2-5.5h14L21 10a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0zM10 19.5V15h4v4.5"/>`,
  phone: html`<rect x="7" y="2.5" width="10" height="19" rx="2.5"/><path d="M11 18.5h2"/>`,
} as const;

export type IconName = keyof typeof shapes;

/** Decorative: the adjacent text says the same. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">${shapes[name]}</svg>`;
}

/** An inline tab icon: without it, browsers request /favicon.ico on every visit. */
export const tabIcon = html`<link rel="icon" href="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%230b6a55'/><path d='M5 4h3a4 4 0 0 1 0 8H5zM3 8h6' fill='none' stroke='%23fff' stroke-width='1.6'/></svg>">`;

// Networks with their own colour in controls.css, each with a contrast of at least 4.5:1 to the white letter.
const coloured = new Set(['wave', 'afrimoney', 'qmoney', 'aps']);

/** The operator's picture of the network, else two letters on a colour: whoever reads little must not confuse Afrimoney and APS. */
export function networkMark(networkId: string, displayName: string, logoPath?: string): Html {
  if (logoPath !== undefined) return html`<img class="mark" src="${logoPath}" alt="" width="34" height="34">`;
  const colour = coloured.has(networkId) ? networkId : 'other';
  return html`<span class="mark mark-${colour}" aria-hidden="true">${displayName.slice(0, 2)}</span>`;
}
