import { html } from '../kit/html.ts';
import type { PageContent } from './document.ts';
import { messagePage } from './layout.ts';
import type { Message } from './layout.ts';

/**
 * The page for an HTTP error. Says first whether money moved, the payer's first question, and then what to do. `home` is the page
 * to open again, if there is one.
 */
export function httpErrorPage(status: number, context: { home: string | null; requestId: string }): PageContent {
  const { body, ...message } = messageOf(status);
  const home = status === 404 ? null : context.home;
  return messagePage({
    ...message,
    body: html`${body}
${home !== null && html`<p><a class="button" href="${home}">Open the page again</a></p>`}
${status >= 500 && html`<p class="hint">Request <span class="reference">${context.requestId}</span></p>`}`,
  });
}

function messageOf(status: number): Message {
  switch (status) {
    case 403:
      return {
        heading: 'This form was not sent from our page',
        icon: 'warning',
        body: html`<p>Another site sent this form, or your browser did not say where it came from. Nothing was done. Open the page
again and use the buttons there.</p>`,
      };
    case 404:
      return {
        heading: 'Page not found',
        icon: 'eye',
        body: html`<p>Check that the whole address was copied. If it was, ask whoever sent it for a new link. Nothing was paid
here.</p>`,
      };
    case 429:
      return {
        heading: 'Too many requests',
        icon: 'clock',
        body: html`<p>We received too many requests from your network and did nothing with this one. Wait a minute, then try again. If you
typed the code of a counter, scan its QR code instead.</p>`,
      };
    case 503:
      return {
        heading: 'The service is unavailable',
        icon: 'clock',
        body: html`<p>What you have paid is safe and is not lost. If you have just pressed a button, open the page again to see the status
of the payment. <b>Do not pay a second time before you have seen it.</b></p>`,
      };
    default:
      return status >= 500
        ? {
            heading: 'Something went wrong',
            icon: 'warning',
            body: html`<p>This is an error on our side, and it was logged. What you have paid is safe. Open the page again to see the status
of the payment before you pay a second time.</p>`,
          }
        : {
            heading: 'The form could not be read',
            icon: 'warning',
            body: html`<p>The form did not arrive as our page sends it. Nothing was done. Open the page again and try once more.</p>`,
          };
  }
}
