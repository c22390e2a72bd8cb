import { html } from '../kit/html.ts';
import type { ErrorPage } from '../pages/http-error-page.ts';
import { messagePage } from '../pages/layout.ts';
import type { IconName } from '../pages/icons.ts';

/**
 * The page for an HTTP error behind a sign-in. Its reader is no payer: it says whether anything was done, and leads to what is
 * there.
 */
export const portalErrorPage: ErrorPage = (status, { home, requestId }) => {
  const { heading, text, icon } = messages[status] ?? (status >= 500 ? ours : unread);
  return messagePage({
    heading,
    icon,
    body: html`<p>${text}</p>
${home !== null && html`<p><a class="button" href="${home}">${status === 405 ? 'Open the page' : 'Go to the first page'}</a></p>`}
${status >= 500 && html`<p class="hint">Request <span class="reference">${requestId}</span></p>`}`,
  });
};

interface ErrorMessage {
  heading: string;
  text: string;
  icon: IconName;
}

const useButtons = 'Nothing was done. Go back, reload the page, and use its buttons.';
const messages: Readonly<Record<number, ErrorMessage>> = {
  403: { heading: 'This form was not sent from our page', text: useButtons, icon: 'warning' },
  404: {
    heading: 'Page not found',
    text: 'Nothing was done. Check the address, and which login you are signed in with.',
    icon: 'eye',
  },
  405: { heading: 'This page cannot do that', text: useButtons, icon: 'warning' },
  413: { heading: 'That is too much', text: 'Nothing was done. Send less text, or a smaller file.', icon: 'warning' },
  429: { heading: 'Too many requests', text: 'Nothing was done. Wait a minute, then try again.', icon: 'clock' },
  503: {
    heading: 'The service is not available now',
    text: 'Open the page again in a minute. If you sent a form, look first whether it was done.',
    icon: 'clock',
  },
};
const ours: ErrorMessage = {
  heading: 'Something went wrong',
  text: 'The fault is ours. If you sent a form, look first whether it was done before you send it again.',
  icon: 'warning',
};
const unread: ErrorMessage = {
  heading: 'This could not be read',
  text: 'Nothing was done. Go back, reload the page, and try once more.',
  icon: 'warning',
};
