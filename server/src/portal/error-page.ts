import { html } from '../kit/html.ts';
import type { PageContent } from '../pages/document.ts';
import type { IconName } from '../pages/icons.ts';
import { messagePage } from '../pages/layout.ts';

/** The page for an HTTP error behind a sign-in. `home` leads on from wherever somebody has ended up. */
export function portalErrorPage(status: number, { home, requestId }: { home: string; requestId: string }): PageContent {
  const { heading, text, icon } = messageOf(status);
  return messagePage({
    heading,
    icon,
    body: html`<p>${text}</p>
<p><a class="button" href="${home}">Go to the start</a></p>
${status >= 500 && html`<p class="hint">Request id <span class="reference">${requestId}</span></p>`}`,
  });
}

function messageOf(status: number): { heading: string; text: string; icon: IconName } {
  switch (status) {
    case 403:
      return {
        heading: 'The form is too old',
        text: 'Nothing was done. Open its page again and send it once more.',
        icon: 'warning',
      };
    case 404:
      return { heading: 'Page not found', text: 'There is no page at this address.', icon: 'eye' };
    case 405:
      return {
        heading: 'Not possible',
        text: 'Nothing was done. This address takes no such request.',
        icon: 'warning',
      };
    case 429:
      return { heading: 'Too many requests', text: 'Nothing was done. Wait a minute, then try again.', icon: 'clock' };
    case 503:
      return {
        heading: 'Dalasi cannot do this now',
        text: 'Wait a minute, then try again. Look first whether what you sent has been done.',
        icon: 'clock',
      };
    default:
      return status >= 500
        ? {
            heading: 'Something is wrong on our side',
            text: 'Look first whether what you sent has been done, then try again. The operator finds the cause by the id below.',
            icon: 'warning',
          }
        : {
            heading: 'This could not be read',
            text: 'Nothing was done. Open the page again and try once more.',
            icon: 'warning',
          };
  }
}
