import type { MerchantAction } from '../../accounts/permissions.ts';
import { html, type Html } from '../../kit/html.ts';
import type { Visit } from '../visit.ts';

/** A part of the settings with its title, its facts, and the links to what changes them. */
export interface SettingsPanel {
  title: string;
  body: Html;
  changes?: readonly { href: string; text: string; needs: MerchantAction }[];
}

export function settingsPage({ base, may }: Visit, title: string, panels: readonly SettingsPanel[]): Html {
  return html`<header class="head"><h1>${title}</h1><p><a href="${base}/settings">All settings</a></p></header>
<div class="columns">${panels.map((panel) => {
    const changes = (panel.changes ?? []).filter(({ needs }) => may(needs).isAllowed);
    return html`<section class="panel"><h2>${panel.title}</h2>${panel.body}${
      changes.length > 0 &&
      html`<p class="actions">${changes.map(
        ({ href, text }) => html`<a class="button small plain" href="${base}${href}">${text}</a>`,
      )}</p>`
    }</section>`;
  })}</div>`;
}
