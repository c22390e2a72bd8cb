import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { icon } from '../icons.ts';
import { foreignText, linkable } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';

export function cancelLink(path: string): Html {
  return html`<p class="quiet"><a href="${path}/cancel">Cancel this payment</a></p>`;
}

// Longer addresses are for programs; nobody reads or types the rest.
const shownCharactersMax = 200;

/**
 * The way back to the shop. A link, never a jump of its own: the payer may want to read or print first, and a browser
 * that applies `form-action` to redirects would refuse to leave after a form post. What may not be linked is shown as
 * text, so that the payer still sees where to go.
 */
export function shopLink(address: string | null, merchantName: string): Html {
  if (address === null) return html`<p class="quiet">You can close this page.</p>`;
  const target = linkable(address);
  if (target === null) {
    const shown = address.length > shownCharactersMax ? `${address.slice(0, shownCharactersMax)}…` : address;
    return html`<p class="quiet">You can close this page, or go back to ${foreignText(merchantName)} at this address: <span class="address">${foreignText(shown)}</span></p>`;
  }
  return html`<p><a class="button" href="${target}">${icon('back')}<span>Back to ${foreignText(merchantName)}</span></a></p>`;
}

/** For whoever tries the service out: the phone on which this payment is approved. */
export function simulatedPhoneLink({ simulatedPhoneUrl }: CheckoutPageModel): Html {
  if (simulatedPhoneUrl === null) return html``;
  return html`<p class="tester"><a href="${simulatedPhoneUrl}" target="_blank" rel="noopener">${icon('phone')}Open the simulated phone</a></p>`;
}
