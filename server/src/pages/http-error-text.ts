import { html } from '../kit/html.ts';
import type { HttpErrorText } from './http-error-page.ts';

/** The words for a status. The payer's first question is always whether money moved, so that is answered first. */
export function httpErrorText(status: number, context: { home: string | null; requestId: string }): HttpErrorText {
  const retryLink = context.home === null ? null : { href: context.home, words: 'Open the page again' };
  switch (status) {
    case 403:
      return {
        title: 'This did not come from our page',
        icon: 'warning',
        body: html`<p>Another site sent this form, or your browser did not say where it came from. Nothing was done. Open the page
again and use the buttons there.</p>`,
        link: retryLink,
        requestId: null,
      };
    case 404:
      return {
        title: 'There is nothing at this address',
        icon: 'eye',
        body: html`<p>Check that the whole address was copied. If it was, ask whoever sent it for a new link. Nothing was paid
here.</p>`,
        link: null,
        requestId: null,
      };
    case 429:
      return {
        title: 'That was a little fast',
        icon: 'clock',
        body: html`<p>Too many requests came from here. Nothing was done by this one. Wait a minute, then go on. If you typed the
code of a counter, scan its QR code instead.</p>`,
        link: retryLink,
        requestId: null,
      };
    case 503:
      return {
        title: 'We cannot answer just now',
        icon: 'clock',
        body: html`<p>What you have paid is safe and is not lost. If you have just pressed a button, open the page again to see where the
payment stands. <b>Do not pay a second time before you have seen it.</b></p>`,
        link: retryLink,
        requestId: context.requestId,
      };
    default:
      return status >= 500
        ? {
            title: 'We made a mistake',
            icon: 'warning',
            body: html`<p>Something went wrong on our side, and we have a record of it. What you have paid is safe. Open the page again
to see where the payment stands, before you pay a second time.</p>`,
            link: retryLink,
            requestId: context.requestId,
          }
        : {
            title: 'We could not read that',
            icon: 'warning',
            body: html`<p>The form did not arrive as our page sends it. Nothing was done. Open the page again and try once more.</p>`,
            link: retryLink,
            requestId: null,
          };
  }
}
