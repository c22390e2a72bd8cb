import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { icon } from '../icons.ts';
import { cleanText, foreignText, linkable } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';

export function cancelLink({ path, language: { t } }: CheckoutPageModel): Html {
  return html`<p class="quiet"><a href="${path}/cancel">${t('cancel-payment')}</a></p>`;
}

// Nobody reads or types a longer URL.
const shownCharactersMax = 200;

/**
 * The link back to the shop. Never a redirect: the payer may want to read or print first, and a browser that applies
 * `form-action` to redirects would block it after a form post. A URL that cannot be linked safely is shown as text.
 */
export function shopLink({ view, language: { t } }: CheckoutPageModel, address: string | null): Html {
  if (address === null) return html`<p class="quiet">${t('close-page')}</p>`;
  const merchant = foreignText(view.merchantName);
  const target = linkable(address);
  if (target === null) {
    const shown = address.length > shownCharactersMax ? `${address.slice(0, shownCharactersMax)}…` : address;
    return html`<p class="quiet">${t('back-at', { merchant })} <span class="address">${foreignText(shown)}</span></p>`;
  }
  return html`<p><a class="button" href="${target}">${icon('back')}<span>${t('back-to', { merchant })}</span></a></p>`;
}

/**
 * Sends the receipt on: with the phone's own share sheet where scripts run, else through WhatsApp, which is how receipts travel in
 * The Gambia. The page's address is in the message, so that whoever receives it can check it.
 */
export function shareLinks({ view, url, language }: CheckoutPageModel): Html {
  const { t } = language;
  const values = {
    amount: formatAmount(view.charge?.amountPaidMinor ?? view.totalMinor),
    merchant: cleanText(view.merchantName),
  };
  const text = `${language.plain('share-text', values)} ${url}`;
  return html`<p class="quiet"><button type="button" class="link" data-share="${url}" hidden>${t('share')}</button>
<a href="https://wa.me/?text=${encodeURIComponent(text)}" rel="noopener">${t('share-whatsapp')}</a>
<button type="button" class="link" data-print hidden>${t('print')}</button></p>`;
}

/** For testers: the simulated phone on which this payment can be approved. */
export function simulatedPhoneLink({ simulatedPhoneUrl, language: { t } }: CheckoutPageModel): Html {
  if (simulatedPhoneUrl === null) return html``;
  return html`<p class="tester"><a href="${simulatedPhoneUrl}" target="_blank" rel="noopener">${icon('phone')}${t('simulated-phone')}</a></p>`;
}
