import { html } from '../kit/html.ts';
import type { ErrorPage } from '../pages/http-error-page.ts';
import { messagePage } from '../pages/layout.ts';
import type { IconName } from '../pages/icons.ts';

/**
 * The page for an HTTP error behind a sign-in. Its reader is no payer: it says whether anything was done, and leads to what is
 * there.
 */
export const portalErrorPage: ErrorPage = (status, { home, requestId }) => {
  const { heading, text, icon } = messageOf(status);
  return messagePage({
    heading,
    icon,
    body: html`<p>${text}</p>
${home !== null && html`<p><a class="button" href="${home}">${status === 405 ? 'Open the page' : 'Go to the first page'}</a></p>`}
${status >= 500 && html`<p class="hint">Request <span class="reference">${requestId}</span></p>`}`,
  });
};

function messageOf(status: number): { heading: string; text: string; icon: IconName } {
  switch (status) {
    case 403:
      return {
        heading: 'This form was not sent from our page',
        text: 'Nothing was done. Go back, reload the page, and use its buttons.',
        icon: 'warning',
      };
    case 404:
      return {
        heading: 'Page not found',
        text: 'Nothing was done. Check the address, and which login you are signed in with.',
        icon: 'eye',
      };
    case 405:
      return {
        heading: 'This page cannot do that',
        text: 'Nothing was done. Go back, reload the page, and use its buttons.',
        icon: 'warning',
      };
    case 413:
      return {
        heading: 'That is too much',
        text: 'Nothing was done. Send less text, or a smaller file.',
        icon: 'warning',
      };
    case 429:
      return { heading: 'Too many requests', text: 'Nothing was done. Wait a minute, then try again.', icon: 'clock' };
    case 503:
      return {
        heading: 'The service is not available now',
        text: 'Open the page again in a minute. If you sent a form, look first whether it was done.',
        icon: 'clock',
      };
    default:
      return status >= 500
        ? {
            heading: 'Something went wrong',
            text: 'The fault is ours. If you sent a form, look first whether it was done before you send it again.',
            icon: 'warning',
          }
        : {
            heading: 'This could not be read',
            text: 'Nothing was done. Go back, reload the page, and try once more.',
            icon: 'warning',
          };
  }
}
