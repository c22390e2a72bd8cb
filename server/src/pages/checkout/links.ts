import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { icon } from '../icons.ts';
import { foreignText, linkable } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';

export function cancelLink(path: string): Html {
  return html`<p class="quiet"><a href="${path}/cancel">Cancel this payment</a></p>`;
}

// Nobody reads or types a longer URL.
const shownCharactersMax = 200;

/**
 * The link back to the shop. Never a redirect: the payer may want to read or print first, and a browser that applies
 * `form-action` to redirects would block it after a form post. A URL that cannot be linked safely is shown as text.
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

/** For testers: the simulated phone on which this payment can be approved. */
export function simulatedPhoneLink({ simulatedPhoneUrl }: CheckoutPageModel): Html {
  if (simulatedPhoneUrl === null) return html``;
  return html`<p class="tester"><a href="${simulatedPhoneUrl}" target="_blank" rel="noopener">${icon('phone')}Open the simulated phone</a></p>`;
}
