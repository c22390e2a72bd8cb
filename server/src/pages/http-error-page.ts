import { html } from '../kit/html.ts';
import type { Language } from '../languages/languages.ts';
import type { PageContent } from './document.ts';
import type { IconName } from './icons.ts';
import { messagePage } from './layout.ts';

/** Draws the page for an HTTP error; `home` is the page to open again, if there is one. */
export type ErrorPage = (
  status: number,
  about: { language: Language; home: string | null; requestId: string },
) => PageContent;

/**
 * The page for an HTTP error. Says whether money moved, the payer's first question, and what to do. `home` is the page to open
 * again, if there is one.
 */
export function httpErrorPage(
  status: number,
  { language, home, requestId }: { language: Language; home: string | null; requestId: string },
): PageContent {
  const { t } = language;
  const { heading, text, icon } = messages[status] ?? (status >= 500 ? ours : unread);
  return messagePage(
    {
      heading: t(heading),
      icon,
      body: html`<p>${t(text)}</p>
${home !== null && status !== 404 && html`<p><a class="button" href="${home}">${t('open-again')}</a></p>`}
${status >= 500 && html`<p class="hint">${t('request-id', { id: html`<span class="reference">${requestId}</span>` })}</p>`}`,
    },
    language,
  );
}

interface ErrorMessage {
  heading: string;
  text: string;
  icon: IconName;
}

const messages: Readonly<Record<number, ErrorMessage>> = {
  403: { heading: 'error-form', text: 'error-form-text', icon: 'warning' },
  404: { heading: 'error-not-found', text: 'error-not-found-text', icon: 'eye' },
  405: { heading: 'error-method', text: 'error-method-text', icon: 'warning' },
  429: { heading: 'error-too-many', text: 'error-too-many-text', icon: 'clock' },
  431: { heading: 'error-too-long', text: 'error-too-long-text', icon: 'warning' },
  503: { heading: 'error-unavailable', text: 'error-unavailable-text', icon: 'clock' },
};
const ours: ErrorMessage = { heading: 'error-ours', text: 'error-ours-text', icon: 'warning' };
const unread: ErrorMessage = { heading: 'error-unread', text: 'error-unread-text', icon: 'warning' };
