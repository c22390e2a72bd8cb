import { html, type Html } from '../kit/html.ts';
import { icon } from './icons.ts';

interface FormError {
  /** Null for an error of the whole form. */
  field: string | null;
  message: Html | string;
}

/** The errors of the whole form, shown above it. They take the focus: on a page that is loaded, a screen reader reads no alert. */
export function generalErrors(errors: readonly FormError[] = []): Html {
  const general = errors.filter(({ field }) => field === null);
  if (general.length === 0) return html``;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>${icon('warning')}<div>${general.map(
    ({ message }) => html`<p>${message}</p>`,
  )}</div></div>`;
}

/** The error of one field, which takes the focus and names `<name>-error` in its `aria-describedby`. */
export function fieldError(name: string, message: Html | string): Html {
  return html`<p class="error" id="${name}-error">${icon('warning')}<span>${message}</span></p>`;
}
